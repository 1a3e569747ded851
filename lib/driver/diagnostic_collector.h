// What the tools of a build say, told once: the slices of a source say most of it once for each architecture,
// and a header's warning comes with every source that reads it.
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
  const Edge* edge = nullptr;  // the first that said it
  // Of the slices that said it, where another slice of the source ran and did not; empty: no arch's own.
  ArchSet archs;
};

// Lives for as long as a build: diagnostics told in one run of a graph are not told in the next. Those of a
// source are held back until none of its edges runs and none is left. Only then it is known which archs do
// not give them.
class DiagnosticCollector {
 public:
  DiagnosticCollector(OwnPaths paths, std::function<void(const ToolDiagnostic&)> tell)
      : paths_(std::move(paths)), tell_(std::move(tell)) {}

  // `due`: outputs of the edges that may run.
  void on_graph_begins(const BuildPlan& graph, const std::map<std::string, std::string>& due);
  void on_edge(const EdgeEvent& event);
  void on_graph_ends();  // tells the rest
  const OwnPaths& paths() const { return paths_; }

 private:
  // A source of an op, or what an op has no source for: its link, its verification.
  struct Unit {
    std::set<std::string> left;  // outputs of edges that have not ended
    std::set<const Edge*> running, ended;
    std::vector<std::pair<Diagnostic, std::vector<const Edge*>>> said;  // by which edges
  };
  static std::string key_of_unit(const Edge& edge) { return edge.op + '\0' + edge.source; }
  void hear(const Edge& edge, const std::string& output, Unit& unit);
  void tell_all(Unit& unit);

  OwnPaths paths_;
  std::function<void(const ToolDiagnostic&)> tell_;
  std::map<std::string, Unit> units_;
  std::set<std::string> told_;  // texts
  bool has_failed_ = false;     // then Ninja may start no other edge
};

// Tells what tools said when the graph's edges were made, in this build or in earlier ones, by their records.
void tell_recorded(const BuildPlan& graph, const Path& build_dir, const FileReader& files,
                   DiagnosticCollector& collector);

// Without the line that says how to have nvcc do the same.
std::string said_by_tools(const std::string& output);

}  // namespace dsbuild
