#include "ninja/ninja_run.h"

#include "toolkit/wrappers.h"

namespace dsbuild {
namespace {

constexpr int k_minimum_major = 1;
constexpr int k_minimum_minor = 11;

std::vector<Path> ninja_candidates(const Settings& settings, const System& system) {
  std::vector<Path> candidates;
  if (!system.program.empty()) candidates.push_back(system.program.parent_path() / "ninja");
  const Path cached = settings.cache_dir / "ninja";
  if (auto versions = system.files.list(cached); versions)
    for (auto version = versions->rbegin(); version != versions->rend(); ++version)
      candidates.push_back(cached / *version / "bin" / "ninja");
  if (auto found = find_program(system, "ninja")) candidates.push_back(*found);
  return candidates;
}

// nullopt when it does not run or is no Ninja.
std::optional<Version> ninja_version(const Path& program, System& system, FactStore& facts) {
  if (!system.files.identity(program) || !system.files.is_executable(program)) return std::nullopt;
  const std::string key = "ninja " + program.string();
  const FactBasis basis = {"", {program}, is_script(program, system.files, facts)};
  if (const auto known = facts.find(key, basis)) return parse_version(*known);
  const auto result = system.processes.run(
      {{program.string(), "--version"}, system.environment, {}, std::chrono::seconds(20)});
  if (!result || !result->ok()) return std::nullopt;
  const std::optional<Version> version = parse_version(trim(result->out));
  if (version) facts.put(key, basis, version->text());
  return version;
}

bool is_new_enough(const Version& version) {
  return version.major() > k_minimum_major ||
         (version.major() == k_minimum_major && version.minor() >= k_minimum_minor);
}

// What a user names is used, or nothing is.
Result<Ninja> named_ninja(const std::string& name, System& system, FactStore& facts) {
  const std::optional<Version> version = ninja_version(name, system, facts);
  if (version && is_new_enough(*version)) return Ninja{name, *version};
  return fail(Exit::unmet, "no_ninja", "DSBUILD_NINJA",
              "'" + printable(name) + "' " +
                  (version ? "is Ninja " + version->text() : "is not a Ninja program that runs here") +
                  ", and 1.11 or newer is needed",
              "Set it to the path of a Ninja, or unset it.");
}

Command ninja_command(const NinjaRun& run) {
  Command command;
  command.argv = {run.ninja.program.string(), "-f", run.plan.graph_file, "-j", std::to_string(run.jobs)};
  if (run.keep_going) command.argv.insert(command.argv.end(), {"-k", "0"});
  command.env = run.environment;
  command.env["NINJA_STATUS"] = NinjaOutputParser::status_format();
  command.cwd = run.build_dir;
  command.timeout = std::chrono::seconds::zero();
  return command;
}

}  // namespace

Result<Ninja> find_ninja(const Settings& settings, System& system, FactStore& facts) {
  if (const std::string chosen = settings.variable("DSBUILD_NINJA"); !chosen.empty())
    return named_ninja(chosen, system, facts);
  std::string seen;
  for (const Path& candidate : ninja_candidates(settings, system)) {
    const std::optional<Version> version = ninja_version(candidate, system, facts);
    if (!version) continue;
    if (is_new_enough(*version)) return Ninja{candidate, *version};
    seen += " " + candidate.string() + " is " + version->text() + ".";
  }
  return fail(Exit::unmet, "no_ninja", "ninja", "no Ninja of version 1.11 or newer was found." + seen,
              "apt-get install ninja-build, or pip install ninja, or set DSBUILD_NINJA to the program.");
}

Result<RunResult> run_ninja(const NinjaRun& run, System& system) {
  NinjaOutputParser parser(run.plan, run.on_event, run.clock);
  DSBUILD_TRY(process, system.processes.run_on_terminal(
                           ninja_command(run), {run.lock_descriptor},
                           [&](std::string_view bytes) { parser.feed(bytes); }, run.on_tick));
  parser.end();
  RunResult result = parser.take_result();
  result.exit_code = process.exit_code;
  return result;
}

}  // namespace dsbuild
