#include "toolkit/nvcc_family.h"

#include <set>

#include "arch/nvidia.h"
#include "base/build_layout.h"
#include "toolkit/cuda_releases.h"
#include "toolkit/nvcc_facts.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

#if defined(__aarch64__)
// Servers' and Jetson's trees; the second is also what NVIDIA calls 64-bit Arm servers.
constexpr const char* k_library_dirs[] = {"lib64", "lib", "targets/sbsa-linux/lib",
                                          "targets/aarch64-linux/lib", "lib/aarch64-linux-gnu"};
constexpr const char* k_include_dirs[] = {"include", "targets/sbsa-linux/include",
                                          "targets/aarch64-linux/include"};
// In the order in which nvcc.profile names them: of the machine's target, else of none (of CUDA 13, of 11).
constexpr const char* k_include_spellings[] = {"bin/../targets/sbsa-linux/include",
                                               "bin/../targets/aarch64-linux/include",
                                               "bin/..//include",
                                               "bin/../include",
                                               "targets/sbsa-linux/include",
                                               "targets/aarch64-linux/include",
                                               "include"};
#else
constexpr const char* k_library_dirs[] = {"lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"};
constexpr const char* k_include_dirs[] = {"include", "targets/x86_64-linux/include"};
constexpr const char* k_include_spellings[] = {"bin/../targets/x86_64-linux/include", "bin/..//include",
                                               "bin/../include", "targets/x86_64-linux/include", "include"};
#endif

Path find_library_dir(const FileReader& files, const Path& home) {
  for (const char* folder : k_library_dirs) {
    if (files.kind(home / folder / "libcudart_static.a") == FileKind::file) return home / folder;
  }
  return {};
}

Path find_stubs_dir(const FileReader& files, const Path& home) {
  for (const char* folder : k_library_dirs) {
    const Path stubs = home / folder / "stubs";
    if (files.kind(stubs) == FileKind::directory) return stubs;
  }
  return {};
}

// conda has CUDA's headers below targets, and those of everything else in include.
Path find_include_folder(const FileReader& files, const Path& home) {
  for (const char* folder : k_include_dirs)
    if (files.kind(home / folder / "cuda_runtime_api.h") == FileKind::file) return home / folder;
  return {};
}

HostCompilerBounds read_bounds(const FileReader& files, const Path& home) {
  for (const char* folder : k_include_dirs) {
    const Path header = home / folder / "crt" / "host_config.h";
    if (files.kind(header) != FileKind::file) continue;
    if (const auto text = files.read_file(header)) return parse_host_config(*text);
  }
  return {};
}

// Those of one folder: with two, nobody knows which one a compiler would take.
std::vector<std::string> include_spellings(const FileReader& files, const Path& home) {
  std::vector<std::string> spellings;
  std::set<Path> folders;
  for (const char* spelling : k_include_spellings) {
    const auto folder = files.real_path(home / spelling);
    if (!folder || files.kind(*folder) != FileKind::directory) continue;
    spellings.push_back((home / spelling).string());
    folders.insert(*folder);
  }
  return folders.size() == 1 ? spellings : std::vector<std::string>{};
}

CompilerQuestion question_to(const Toolkit& toolkit, System& system, FactStore& facts) {
  return question_to_nvcc(toolkit.compiler(), system, facts, tool_environment(system, &toolkit));
}

tl::expected<void, std::string> describe(Toolkit& toolkit, System& system, FactStore& facts) {
  toolkit.library_dir = find_library_dir(system.files, toolkit.home);
  if (toolkit.library_dir.empty()) return Reason("it has no libcudart_static.a (nvcc without its libraries)");
  auto said = answer_of(question_to(toolkit, system, facts), facts);
  if (!said) return Reason(said.error());
  toolkit.version = said->version;
  toolkit.targets = std::move(said->targets);
  toolkit.options = std::move(said->options);
  toolkit.stubs_dir = find_stubs_dir(system.files, toolkit.home);
  toolkit.include_folder = find_include_folder(system.files, toolkit.home);
  if (const Path cccl = toolkit.include_dir() / "cccl"; system.files.kind(cccl) == FileKind::directory)
    toolkit.cccl_folder = cccl;
  if (std::string why = why_no_whole_release(toolkit, system.files, facts); !why.empty())
    return Reason(std::move(why));
  toolkit.bounds = read_bounds(system.files, toolkit.home);
  toolkit.include_spellings = include_spellings(system.files, toolkit.home);
  return {};
}

bool nvcc_answers_as_known(const Toolkit& toolkit, System& system, FactStore& facts) {
  return answers_as_known(question_to(toolkit, system, facts), facts);
}

}  // namespace

const CompilerFamily k_nvcc_family = {.name = "CUDA",
                                      .brand = "CUDA",
                                      .tool = k_nvcc_tool,
                                      .vendor = nvidia,
                                      .compiler = "bin/nvcc",
                                      .configuration = "bin/nvcc.profile",
                                      .host_option = "-ccbin",
                                      .home = &Settings::cuda_home,
                                      .home_option = "--cuda-home",
                                      .home_variables = {"CUDA_HOME", "CUDA_PATH"},
                                      .candidates = nvcc_candidates,
                                      .other_compilers = nullptr,
                                      .describe = describe,
                                      .answers_as_known = nvcc_answers_as_known,
                                      .proof = nvcc_proof,
                                      .question = nvcc_question,
                                      .parts = nvcc_parts,
                                      .device_parts = nvcc_device_parts,
                                      .include_question = nullptr};

}  // namespace dsbuild
