#include "driver/slicing.h"

#include <chrono>
#include <map>

#include "arch/nvidia.h"
#include "base/digest.h"
#include "exec/action_key.h"
#include "plan/slice_edges.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {
namespace {

// The oldest and the newest arch, so that every kind of step is run.
Args self_test_command(const Toolkit& toolkit, Args nvcc, bool has_lines) {
  if (has_lines) nvcc.insert(nvcc.end(), {"-lineinfo", "-Xcompiler=-g"});
  nvcc.insert(nvcc.end(), {"-O3", "-Xcompiler=-fPIC"});
  if (toolkit.has_option("--frandom-seed")) nvcc.push_back("-frandom-seed=" + std::string(k_any_seed));
  std::vector<Target> plain;
  for (const Target& target : toolkit.targets)
    if (target == target.base()) plain.push_back(target);
  const Target ptx = NvidiaTarget{nvidia_target(plain.back()).cc, Suffix::none, CodeKind::ptx};
  for (const Target& target : {plain.front(), plain.back(), ptx})
    nvcc.push_back(target.flag());
  return nvcc;
}

// Adds to `untested`.
Sliced slice_edges(BuildPlan& graph, const SlicedTools& tools, std::vector<SliceTest>& untested,
                   Session& session) {
  std::map<bool, std::string> refusals;  // with line information, without
  const LearnCommands learn = [&](const Args& nvcc) -> LearntCommands {
    auto commands = learn_commands(nvcc, tools, session);
    if (!commands) return commands;
    const bool has_lines = has_line_information(commands->devices.front().compile);
    const auto [refusal, is_new] = refusals.try_emplace(has_lines);
    if (is_new) refusal->second = why_not_sliced(tools, has_lines, untested, session);
    if (!refusal->second.empty()) return tl::unexpected(refusal->second);
    return commands;
  };
  return slice_cuda_edges(graph, {learn});
}

Error cannot_slice(const WholeFiles& files, const std::string& origin) {
  std::vector<std::string> reasons;
  for (const auto& [reason, number] : files)
    reasons.push_back(plural(number, "file") + " cannot be sliced: " + reason);
  return make_error(Exit::unmet, "cannot_slice", origin, join(reasons, "; "),
                    "Build with --backend auto: it compiles what cannot be sliced by whole nvcc commands.");
}

}  // namespace

std::string why_not_sliced(const SlicedTools& tools, bool has_lines, std::vector<SliceTest>& untested,
                           Session& session) {
  SliceTest test{self_test_command(tools.toolkit, tools.nvcc, has_lines), "",
                 Key().add("version", k_key_version).add_bytes("tools", tools.text).digest(),
                 has_wrapper(tools.toolkit, session.system, session.facts)};
  test.fact = "slices by " + shell_join(test.command);
  auto known = session.facts.find(test.fact, test.basis());
  if (!known) known = session.build_facts.find(test.fact, test.identity);
  test.refusal = known.value_or("");
  if (test.refusal == k_slices_are_the_same) return "";
  untested.push_back(test);
  return test.refusal;
}

SlicedTools sliced_tools(const Toolkit& cuda, const Tools& commands, const ToolParts& parts,
                         const Roots& roots, const System& system) {
  return {cuda, commands.of(k_nvcc_tool), parts.of(k_nvcc_tool).text, tool_environment(system, &cuda), roots};
}

LearntCommands learn_commands(const Args& nvcc, const SlicedTools& tools, Session& session) {
  FactStore& facts = session.facts;
  Args command = dry_run_command(nvcc);
  command.front() = tools.roots.real(command.front());
  const std::string key = "nvcc steps " + sha256(shell_join(command));
  const FactBasis basis = {sha256(tools.text), {}, has_wrapper(tools.toolkit, session.system, facts)};
  auto text = is_wrapped(tools.toolkit, session.system, facts) ? std::nullopt : facts.find(key, basis);
  if (!text) {
    Environment environment = {{"LC_ALL", "C"}, {"PATH", k_any_path}};
    environment.merge(handed_on_variables(session.system));
    const auto answer =
        session.system.processes.run(question_to_tool(command, std::move(environment), session.system));
    if (!answer || !answer->ok())
      return tl::unexpected("its dry run failed: " +
                            trim(printable(answer ? answer->err : answer.error().what)));
    text = answer->err;
    facts.put(key, basis, *text);
  }
  auto commands = parse_nvcc_commands(*text);
  if (commands) name_roots(*commands, tools.roots);
  return commands;
}

Result<SlicedGraph> slice(BuildPlan graph, const SlicedTools& tools, const Setting<CudaBackend>& backend,
                          Session& session) {
  std::vector<SliceTest> untested;
  Sliced sliced = slice_edges(graph, tools, untested, session);
  session.facts.save();
  if (backend.value == CudaBackend::slices && !sliced.whole_files.empty())
    return tl::unexpected<Error>(cannot_slice(sliced.whole_files, backend.origin));
  std::vector<Warning> warnings;
  for (const auto& [reason, number] : sliced.whole_files)
    warnings.push_back(warning("not_sliced", "--backend auto",
                               plural(number, "file") + " compiled by whole nvcc commands: " + reason));
  return SlicedGraph{std::move(graph), std::move(sliced.commands), std::move(untested), std::move(warnings)};
}

}  // namespace dsbuild
