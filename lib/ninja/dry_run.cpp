#include "ninja/dry_run.h"

#include <algorithm>

namespace dsbuild {
namespace {

constexpr std::string_view k_explanation = "ninja explain: ";
constexpr const char* k_made_anew = " is made anew";

// The outputs that Ninja's status lines name: "@dsbuild 1 1 5 obj/adam/adam.cu.o".
std::set<std::string> outputs_of(const BuildPlan& plan, std::string_view out) {
  std::set<std::string> named;
  for (const std::string& line : split_lines(out))
    for (const Edge& edge : plan.edges) {
      const std::string end = " " + edge.output;
      if (line.size() <= end.size() || line.compare(line.size() - end.size(), end.size(), end) != 0) continue;
      named.insert(edge.output);
      named.insert(edge.more_outputs.begin(), edge.more_outputs.end());
    }
  return named;
}

// "output lib/adam.so older than …", "command line changed for lib/adam.so", "depfile for 'lib/adam.so' …":
// whatever the words, the first path in them is the output's.
bool is_about(const std::string& explanation, const std::string& output) {
  const size_t at = explanation.find(output);
  if (at == std::string::npos) return false;
  const size_t end = at + output.size();
  const auto is_edge_of_word = [&](size_t place) {
    return place >= explanation.size() ||
           std::string_view(" ':,").find(explanation[place]) != std::string_view::npos;
  };
  return (at == 0 || is_edge_of_word(at - 1)) && is_edge_of_word(end) && explanation.find('/') >= at &&
         explanation.find('/') < end;
}

// "" when only an input's being dirty makes it dirty.
std::string reason_for(const std::vector<std::string>& explanations, const std::string& output) {
  for (const std::string& explanation : explanations)
    if (explanation != output + " is dirty" && is_about(explanation, output)) return explanation;
  return "";
}

std::string reason_by_inputs(const Edge& edge, const std::set<std::string>& changed, const char* how) {
  for (const auto* inputs : {&edge.inputs, &edge.implicit_inputs})
    for (const std::string& input : *inputs)
      if (changed.count(input) > 0) return input + how;
  return "";
}

std::vector<std::string> explanations_in(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string& line : split_lines(text))
    if (line.starts_with(k_explanation)) found.push_back(printable(line.substr(k_explanation.size())));
  return found;
}

// One round: the edges that use a rewritten file, or what an edge that is known to run makes.
void add_rewritten(const BuildPlan& plan, const std::set<std::string>& rewritten, PendingEdges& all,
                   std::set<std::string>& made) {
  for (const Edge& edge : plan.edges) {
    std::string reason = reason_by_inputs(edge, rewritten, " is new or has changed");
    if (reason.empty()) reason = reason_by_inputs(edge, made, k_made_anew);
    if (!reason.empty()) all.emplace(edge.output, reason);
    if (all.count(edge.output) == 0) continue;
    made.insert(edge.output);
    made.insert(edge.more_outputs.begin(), edge.more_outputs.end());
  }
}

}  // namespace

PendingEdges parse_dry_run(const BuildPlan& plan, std::string_view out, std::string_view explanations) {
  const std::set<std::string> would_run = outputs_of(plan, out);
  const std::vector<std::string> said = explanations_in(explanations);
  PendingEdges pending;
  for (const Edge& edge : plan.edges) {
    if (would_run.count(edge.output) == 0) continue;
    std::string reason = reason_for(said, edge.output);
    if (reason.empty()) reason = reason_by_inputs(edge, would_run, k_made_anew);
    pending.emplace(edge.output, reason.empty() ? "Ninja gives no reason" : reason);
  }
  return pending;
}

PendingEdges with_rewritten_files(const BuildPlan& plan, const PendingEdges& pending,
                                  const std::set<std::string>& rewritten) {
  PendingEdges all = pending;
  std::set<std::string> made;
  // Edges stand in the order of their times: what uses an output may stand before what makes it.
  for (size_t before = plan.edges.size() + 1; before != made.size();) {
    before = made.size();
    add_rewritten(plan, rewritten, all, made);
  }
  return all;
}

Result<PendingEdges> dry_run(const Ninja& ninja, const BuildPlan& plan, const Path& build_dir,
                             const Path& ninja_file, System& system) {
  Command command;
  command.argv = {ninja.program.string(), "-f", ninja_file.string(), "-n", "-d", "explain"};
  for (const Edge& edge : plan.edges)
    command.argv.push_back(edge.output);
  command.env = system.environment;
  command.env["NINJA_STATUS"] = NinjaOutputParser::status_format();
  command.cwd = build_dir;
  DSBUILD_TRY(answer, system.processes.run(command));
  if (!answer.ok())
    return fail(Exit::failed, "ninja_failed", build_dir.string(),
                "Ninja's dry run ended with exit code " + std::to_string(answer.exit_code) + ": " +
                    trim(printable(answer.out)),
                "`dsbuild clean` and build again.");
  return parse_dry_run(plan, answer.out, answer.err);
}

}  // namespace dsbuild
