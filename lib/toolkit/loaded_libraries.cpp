#include "toolkit/loaded_libraries.h"

#include <algorithm>

#include "base/digest.h"
#include "toolkit/wrappers.h"

namespace dsbuild {
namespace {

constexpr const char* k_loader_cache = "/etc/ld.so.cache";

// Where the loader looks first, below a folder: glibc-hwcaps, and until glibc 2.36 a processor's and its
// extensions' names (elf/dl-hwcaps.c, sysdeps/*/dl-procinfo.c).
constexpr const char* k_folders_below[] = {"glibc-hwcaps", "tls",      "x86_64",  "haswell",
                                           "xeon_phi",     "avx512_1", "atomics", "aarch64"};

// The loader's cache has libraries for some processors alone, so that it answers otherwise on others.
bool names_processors(const std::string& cache) {
  return std::ranges::any_of(k_folders_below, [&](const std::string& below) {
    return cache.find("/" + below + "/") != std::string::npos;
  });
}

// What the loader's answers depend on besides the program and the libraries that it names; nullopt where
// nothing tells whether that is the same. Its cache counts by its bytes: each node has its own, and nodes
// share what is remembered. What lies in folders of LD_LIBRARY_PATH counts by their identities, so on this
// machine alone.
std::optional<FactBasis> basis_of_loader(const std::string& search, const FileReader& files) {
  const std::string cache = files.read_file(k_loader_cache).value_or("absent");
  FactBasis basis{.text = sha256(cache), .is_of_machine = !search.empty() || names_processors(cache)};
  for (const std::string& folder : split(search, ":")) {
    for (const char* below : k_folders_below)
      if (files.kind(Path(folder) / below) == FileKind::directory) return std::nullopt;
    basis.files.emplace_back(folder);
  }
  return basis;
}

std::vector<Path> lines_as_paths(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  return {lines.begin(), lines.end()};
}

Result<Paths> ask_loader(const Path& program, Environment environment, System& system) {
  environment["LD_TRACE_LOADED_OBJECTS"] = "1";
  const auto said = said_if_known({program.string(), "--version"}, environment, system);
  // One of another processor, among those that a compiler may have: it loads nothing.
  if (!said && said.error().code == "cannot_start") return Paths{};
  if (!said) return tl::unexpected(said.error());
  Paths found = files_named_in(*said, system.files);
  // What the machine has all of its programs load, to watch them say, is none of the compiler's.
  if (const auto preloaded = system.files.read_file("/etc/ld.so.preload"))
    for (const std::string& library : split(*preloaded, ": \t\n"))
      found.erase(library);
  return found;
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

// `basis`: of the loader, with this environment.
Result<Paths> libraries_of(const Path& program, std::optional<FactBasis> basis,
                           const Environment& environment, System& system, FactStore& facts) {
  if (basis) basis->files.insert(basis->files.begin(), program);
  // Callers with different paths may take turns.
  const std::string key = "libraries of " + program.string() + " by " + variable(environment, k_library_path);
  if (const auto known = basis ? facts.find(key, *basis, lines_as_paths) : std::nullopt) {
    const std::vector<std::string> lines = split_lines(*known);
    return Paths(lines.begin(), lines.end());
  }
  DSBUILD_TRY(found, ask_loader(program, environment, system));
  if (basis) facts.put(key, *basis, lines_as_paths, join({found.begin(), found.end()}, "\n"));
  return found;
}

}  // namespace

Result<Paths> loaded_libraries(const Path& program, const Environment& environment, System& system,
                               FactStore& facts) {
  const auto basis = basis_of_loader(variable(environment, k_library_path), system.files);
  return libraries_of(program, basis, environment, system, facts);
}

Result<Paths> libraries_of_parts(const Paths& parts, const Environment& environment, System& system,
                                 FactStore& facts) {
  const auto basis = basis_of_loader(variable(environment, k_library_path), system.files);
  Paths all;
  for (const std::string& program : programs_among(parts, environment, system, facts)) {
    DSBUILD_TRY(found, libraries_of(program, basis, environment, system, facts));
    all.merge(found);
  }
  return all;
}

}  // namespace dsbuild
