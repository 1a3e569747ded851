#include "wrapper/call_tools.h"

#include <array>

#include "base/build_layout.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {
namespace {

constexpr const char* k_nvcc_name = "nvcc";

// Of what is handed on; tool_environment leaves out what is relative.
constexpr std::array k_lists_of_folders = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH"};
// One more of gcc's.
constexpr std::array k_more_looked_at = {"GCC_COMPARE_DEBUG"};
// In which language they speak.
constexpr std::array k_locale = {"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"};

// Not this program under that name.
bool is_another_program(const Path& program, const System& system) {
  return system.files.is_executable(program) && system.files.real_path(program) != system.program;
}

// nvcc of a bin folder. Where that is this program, the folder is one of links (`dsbuild wrap`): what they
// lead to stands beside the nvcc that is meant.
std::optional<Path> nvcc_in(const Path& folder, const System& system) {
  const Path nvcc = folder / k_nvcc_name;
  if (!system.files.is_executable(nvcc)) return std::nullopt;
  if (is_another_program(nvcc, system)) return nvcc;
  const auto assembler = system.files.real_path(folder / "ptxas");
  if (!assembler) return std::nullopt;
  const Path beside = assembler->parent_path() / k_nvcc_name;
  return is_another_program(beside, system) ? std::optional(beside) : std::nullopt;
}

std::optional<Path> usual_nvcc(const System& system) {
  if (const std::string named = variable(system.environment, "DSBUILD_NVCC"); !named.empty()) return named;
  std::vector<Path> folders;
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = variable(system.environment, home); !folder.empty())
      folders.push_back(Path(folder) / "bin");
  for (const std::string& folder : path_folders(system))
    folders.emplace_back(folder);
  folders.emplace_back("/usr/local/cuda/bin");
  for (const Path& folder : folders)
    if (auto nvcc = nvcc_in(folder, system)) return nvcc;
  return std::nullopt;
}

// nvcc's own choice: -ccbin, NVCC_CCBIN, gcc on PATH.
std::optional<Path> host_compiler(const NvccCall& call, const System& system) {
  std::string named = call.host_compiler;
  if (named.empty()) named = variable(system.environment, "NVCC_CCBIN");
  return find_named_host_compiler(named.empty() ? "gcc" : named, system);
}

Environment chosen(const Environment& environment, const auto& names) {
  Environment found;
  for (const char* name : names)
    if (const auto variable = environment.find(name); variable != environment.end()) found.insert(*variable);
  return found;
}

// What of the caller's environment its compilers read. nvcc runs where it is called, its steps elsewhere.
Result<Environment> looked_at(const System& system) {
  Environment found = handed_on_variables(system);
  for (const auto& [name, value] : chosen(system.environment, k_lists_of_folders))
    if (variable(found, name) != value) return left_to_nvcc(name, "it names the current folder or one below");
  found.merge(chosen(system.environment, k_more_looked_at));
  return found;
}

}  // namespace

tl::unexpected<Error> left_to_nvcc(const std::string& where, const std::string& why) {
  return fail(Exit::unmet, "cannot_slice", where, why);
}

Result<NamedNvcc> find_nvcc(const Args& words, const System& system) {
  const auto named =
      words.empty() || words.front().starts_with('-') ? std::nullopt : find_program(system, words.front());
  const bool is_named = named && named->filename().string().starts_with(k_nvcc_name);
  const Args rest(words.begin() + (is_named ? 1 : 0), words.end());
  std::optional<Path> program;
  if (is_named) program = is_another_program(*named, system) ? named : nvcc_in(named->parent_path(), system);
  if (!program) program = usual_nvcc(system);
  if (program) return NamedNvcc{system.files.absolute(*program), rest};
  return fail(
      Exit::unmet, "no_toolkit", k_nvcc_name, "no nvcc was found on this machine",
      "Usage: dsbuild nvcc /path/to/nvcc …; or set DSBUILD_NVCC. `dsbuild toolkits get 13.5` fetches one.");
}

Args with_flags_of_environment(const Args& words, const Environment& environment) {
  Args all = shell_split(variable(environment, "NVCC_PREPEND_FLAGS"));
  const Args behind = shell_split(variable(environment, "NVCC_APPEND_FLAGS"));
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), behind.begin(), behind.end());
  return all;
}

Result<CallTools> find_call_tools(const Path& nvcc, const NvccCall& call, Session& session) {
  System& system = session.system;
  auto toolkit = find_toolkit_of(nvcc, system, session.facts, session.digests);
  if (!toolkit) return left_to_nvcc(nvcc.string(), toolkit.error());
  const auto host = host_compiler(call, system);
  if (!host) return left_to_nvcc(nvcc.string(), "its host compiler was not found");
  toolkit->host = HostCompiler{*host, "gcc", {}, "PATH"};
  DSBUILD_TRY(read_by_compilers, looked_at(system));
  HostCompilerParts hosts;
  DSBUILD_TRY(parts, parts_of_toolkit(*toolkit, hosts, system, session.facts, session.digests));
  CallTools tools{std::move(*toolkit),
                  {},
                  std::move(parts),
                  {},
                  std::move(read_by_compilers),
                  chosen(system.environment, k_locale)};
  // By its path: the steps' PATH is their own.
  tools.nvcc = {nvcc.string(), "-ccbin", host->string()};
  tools.environment = tool_environment(system, &tools.toolkit);
  tools.environment.erase("LC_ALL");
  for (const Environment& of_caller : {tools.looked_at, tools.locale})
    tools.environment.insert(of_caller.begin(), of_caller.end());
  if (trust_of(system.environment) == Trust::nothing) tools.environment[k_paranoid_variable] = "1";
  return tools;
}

}  // namespace dsbuild
