// Collects compilers' messages and shows each once. Without it, most messages of a source would appear for
// each architecture, and a header's warning for each source that includes it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/own_paths.h"
#include "ninja/ninja_run.h"

namespace dsbuild {

struct ToolDiagnostic {
  Diagnostic diagnostic;       // with the user's own paths
  const Edge* edge = nullptr;  // the first edge that printed it
  // The archs whose slices printed it, if another slice of the source ran without printing it. Empty if all
  // did.
  ArchSet archs;
};

// One object serves a whole build, so a message is not repeated in the next run of a graph. It holds the
// messages of a source back until all edges of the source have ended: only then does it know which archs gave
// no such message.
class DiagnosticCollector {
 public:
  DiagnosticCollector(OwnPaths paths, std::function<void(const ToolDiagnostic&)> tell)
      : paths_(std::move(paths)), tell_(std::move(tell)) {}

  // `due`: outputs of the edges that may run, and why.
  void on_graph_begins(const BuildPlan& graph, const std::map<std::string, std::string>& due);
  void on_edge(const EdgeEvent& event);
  void on_graph_ends();  // shows all remaining messages
  const OwnPaths& paths() const { return paths_; }

 private:
  // The edges of one source of an op, or those of an op without a source (link, verification).
  struct Unit {
    std::set<std::string> left;  // outputs of its edges that have not ended
    std::set<const Edge*> running, ended;
    std::vector<std::pair<Diagnostic, std::vector<const Edge*>>> said;  // each with the edges that printed it
  };
  static std::string key_of_unit(const Edge& edge) { return edge.op + '\0' + edge.source; }
  void hear(const Edge& edge, const std::string& output, Unit& unit);
  void tell_all(Unit& unit);

  OwnPaths paths_;
  std::function<void(const ToolDiagnostic&)> tell_;
  std::map<std::string, Unit> units_;
  std::set<std::string> told_;  // texts of the messages that were shown
  bool has_failed_ = false;     // then Ninja may start no further edge
};

// Shows the messages in the records of the graph's edges, also those from earlier builds.
void tell_recorded(const BuildPlan& graph, const Path& build_dir, const FileReader& files,
                   DiagnosticCollector& collector);

// A failed edge's output without its last line, the nvcc command that fails in the same way.
std::string said_by_tools(const std::string& output);

}  // namespace dsbuild
