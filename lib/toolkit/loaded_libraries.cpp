#include "toolkit/loaded_libraries.h"

#include <algorithm>

#include "base/digest.h"
#include "toolkit/wrappers.h"

namespace dsbuild {
namespace {

// Below a folder of LD_LIBRARY_PATH, where the loader looks first: glibc-hwcaps, and until glibc 2.36 a
// processor's and its extensions' names (elf/dl-hwcaps.c, sysdeps/*/dl-procinfo.c).
constexpr const char* k_folders_below[] = {"glibc-hwcaps", "tls",      "x86_64",  "haswell",
                                           "xeon_phi",     "avx512_1", "atomics", "aarch64"};

// What the loader's answer depends on beside the programs; nullopt where nothing tells whether it is the
// same. Its cache counts by its bytes: each node has its own, and nodes share what is remembered.
std::optional<std::string> loader_state(const Environment& environment, const FileReader& files,
                                        DigestMemo& digests) {
  std::string state = digests.digest("/etc/ld.so.cache").value_or("absent") + "\n";
  for (const std::string& folder : split(variable(environment, k_library_path), ":")) {
    for (const char* below : k_folders_below)
      if (files.kind(Path(folder) / below) == FileKind::directory) return std::nullopt;
    state += folder + " " + identity_text(folder, files) + "\n";
  }
  return state;
}

// Those among the parts that are machine code. (NVIDIA's libraries may be executed, by their mode.)
Paths programs_among(const Paths& parts, const Environment& environment, System& system, FactStore& facts) {
  Paths programs;
  for (const std::string& part : parts) {
    const auto path = find_program(system.files, part, environment);
    if (path && path->filename().string().find(".so") == std::string::npos &&
        !is_script(*path, system.files, facts))
      programs.insert(path->string());
  }
  return programs;
}

Result<Paths> ask_loader(const Paths& programs, Environment environment, System& system) {
  environment["LD_TRACE_LOADED_OBJECTS"] = "1";
  Paths found;
  for (const std::string& program : programs) {
    const auto said = said_if_known({program, "--version"}, environment, system);
    // One of another processor, among those that a compiler may have: it loads nothing.
    if (!said && said.error().code == "cannot_start") continue;
    if (!said) return tl::unexpected(said.error());
    found.merge(files_named_in(*said, system.files));
  }
  // What the machine has all of its programs load, to watch them say, is none of the compiler's.
  if (const auto preloaded = system.files.read_file("/etc/ld.so.preload"))
    for (const std::string& library : split(*preloaded, ": \t\n"))
      found.erase(library);
  return found;
}

}  // namespace

Result<Paths> loaded_libraries(const std::string& what, const Paths& parts, const std::string& text,
                               const Environment& environment, System& system, FactStore& facts,
                               DigestMemo& digests) {
  const auto is_there = [&](const std::string& path) { return system.files.kind(path) == FileKind::file; };
  const auto state = loader_state(environment, system.files, digests);
  // Callers with different paths may take turns.
  const std::string key = "libraries of " + what + " by " + variable(environment, k_library_path);
  const std::string identity = sha256(text + state.value_or(""));
  if (const auto known = state ? facts.find(key, identity) : std::nullopt) {
    const std::vector<std::string> paths = split_lines(*known);
    if (std::all_of(paths.begin(), paths.end(), is_there)) return Paths(paths.begin(), paths.end());
  }
  DSBUILD_TRY(found, ask_loader(programs_among(parts, environment, system, facts), environment, system));
  if (state) facts.put(key, identity, join({found.begin(), found.end()}, "\n"));
  return found;
}

}  // namespace dsbuild
