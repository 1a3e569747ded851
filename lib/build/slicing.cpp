#include "build/slicing.h"

#include <chrono>
#include <map>
#include <random>

#include "arch/nvidia.h"
#include "base/digest.h"
#include "nvcc/self_test.h"
#include "plan/slice_edges.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {
namespace {

constexpr const char* k_the_same = "the same";

// nvcc's own steps, asked once for each set of flags and kept for as long as the toolkit is the same.
LearntCommands learn_commands(const Words& nvcc, const Plan& plan, Session& session) {
  FactStore& facts = session.facts;
  const Words command = dry_run_command(nvcc);
  const std::string key = "nvcc steps " + sha256(shell_join(command)),
                    identity = sha256(plan.tools.nvcc.text);
  const bool is_asked_anew = is_script(plan.toolkit()->compiler(), session.system.files, facts);
  auto text = is_asked_anew ? std::nullopt : facts.find(key, identity);
  if (!text) {
    const Environment environment = {{"LC_ALL", "C"}, {"PATH", k_any_path}};
    const auto answer = session.system.processes.run({command, environment, {}, std::chrono::seconds(60)});
    if (!answer || !answer->ok())
      return tl::unexpected("its dry run failed: " +
                            trim(printable(answer ? answer->err : answer.error().what)));
    text = answer->err;
    facts.put(key, identity, *text);
  }
  return parse_nvcc_commands(*text);
}

// The oldest and the newest arch, so that every kind of step is run.
Words self_test_command(const Toolkit& toolkit, Words nvcc, bool has_lines) {
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

// That of builds, whose TMPDIR is relative to the build folder.
Environment self_test_environment(const Plan& plan, const System& system) {
  Environment environment = tool_environment(system.environment, plan.toolkit());
  environment.erase("TMPDIR");
  return environment;
}

// How the slices of this toolkit with its compiler differ from what it makes itself; "" where they do not.
std::string run_self_test(const Words& command, const Plan& plan, Session& session) {
  const Settings& settings = plan.settings();
  System& system = session.system;
  const LearntCommands commands = learn_commands(command, plan, session);
  if (!commands) return commands.error();
  if (const auto made = system.files.make_directories(settings.cache_dir); !made)
    return "slices cannot be tested in " + settings.cache_dir.string() + ": " + made.error().what;
  const std::string name =
      "slices-" + std::to_string(std::random_device()());  // another dsbuild may test too
  return slices_differ_by(command, *commands, settings.cache_dir / name, system.program,
                          {system.files, system.processes, self_test_environment(plan, system)});
}

// Why this toolkit is not to be sliced, "" where it is. What failed may not fail again: builds test it anew.
// Line information is tested by itself, where it is asked for.
std::string why_not_sliced(const Plan& plan, SelfTest self_test, bool has_lines, Session& session) {
  const Words command = self_test_command(*plan.toolkit(), plan.graph.tools.nvcc, has_lines);
  const std::string key = "slices by " + shell_join(command), identity = sha256(plan.tools.nvcc.text);
  FactStore& facts = session.facts;
  std::string known = facts.find(key, identity).value_or("");
  if (known == k_the_same) return "";
  if (self_test == SelfTest::recall) return known;
  const std::string difference = run_self_test(command, plan, session);
  facts.put(key, identity, difference.empty() ? k_the_same : difference);
  return difference;
}

Sliced slice_edges(Plan& plan, SelfTest self_test, Session& session) {
  std::map<bool, std::string> refusals;  // with line information, without
  const LearnCommands learn = [&](const Words& nvcc) -> LearntCommands {
    auto commands = learn_commands(nvcc, plan, session);
    if (!commands) return commands;
    const bool has_lines = has_line_information(commands->devices.front().compile);
    const auto [refusal, is_new] = refusals.try_emplace(has_lines);
    if (is_new) refusal->second = why_not_sliced(plan, self_test, has_lines, session);
    if (!refusal->second.empty()) return tl::unexpected(refusal->second);
    return commands;
  };
  return slice_cuda_edges(plan.graph, {learn, plan.history, plan.registry().pack});
}

Error cannot_slice(const WholeFiles& files, const std::string& origin) {
  std::vector<std::string> reasons;
  for (const auto& [reason, number] : files)
    reasons.push_back(plural(number, "file") + " cannot be sliced: " + reason);
  return make_error(Exit::unmet, "cannot_slice", origin, join(reasons, "; "),
                    "Build with --backend auto: it compiles what cannot be sliced by whole nvcc commands.");
}

}  // namespace

Result<void> slice(Plan& plan, SelfTest self_test, Session& session) {
  Sliced sliced = slice_edges(plan, self_test, session);
  const WholeFiles& whole_files = sliced.whole_files;
  plan.sliced_commands = std::move(sliced.commands);
  session.facts.save();
  const Settings& settings = plan.settings();
  if (settings.backend.value == CudaBackend::slices && !whole_files.empty())
    return tl::unexpected<Error>(cannot_slice(whole_files, settings.backend.origin));
  for (const auto& [reason, number] : whole_files)
    plan.warnings.push_back(warning("not_sliced", "--backend auto",
                                    plural(number, "file") + " compiled by whole nvcc commands: " + reason));
  return {};
}

}  // namespace dsbuild
