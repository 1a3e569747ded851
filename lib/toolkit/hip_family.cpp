#include "toolkit/hip_family.h"

#include "arch/amd.h"
#include "base/build_layout.h"
#include "base/text.h"
#include "sys/site_packages.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

#if defined(__aarch64__)
constexpr const char* k_triplet = "aarch64-linux-gnu";
#else
constexpr const char* k_triplet = "x86_64-linux-gnu";
#endif

// Where clang looks for device libraries itself: in ROCm's folder, and in its own.
Path find_bitcode(const Toolkit& toolkit, const FileReader& files) {
  const Path usual = toolkit.home / "amdgcn/bitcode";
  if (files.kind(usual) == FileKind::directory) return usual;
  const Path own = toolkit.compiler().parent_path().parent_path() / "lib/clang";
  for (const std::string& version : by_version(files, own, ""))
    if (const Path folder = own / version / "lib/amdgcn/bitcode"; files.kind(folder) == FileKind::directory)
      return folder;
  return {};
}

Path debian_bitcode(const Path& home, const FileReader& files) {
  const Path folder = home / "lib" / k_triplet / "amdgcn/bitcode";
  return files.kind(folder) == FileKind::directory ? folder : Path{};
}

// "#define HIP_VERSION_MAJOR 5"
Version headers_version(const Path& home, const FileReader& files) {
  const std::string text = files.read_file(home / "include/hip/hip_version.h").value_or("");
  Version version;
  for (const char* name : {"HIP_VERSION_MAJOR", "HIP_VERSION_MINOR", "HIP_VERSION_PATCH"})
    for (const std::string& line : split_lines(text)) {
      const std::vector<std::string> words = split(line, " \t\r");
      if (words.size() < 3 || words[0] != "#define" || words[1] != name) continue;
      if (const auto number = parse_version(words[2])) version.parts.push_back(number->major());
    }
  return version;
}

Path find_library_dir(const Path& home, const FileReader& files) {
  for (const Path& folder : {home / "lib", home / "lib64", home / "lib" / k_triplet})
    if (files.kind(folder / "libamdhip64.so") == FileKind::file) return folder;
  return {};
}

// Sets the flags that it takes to be asked; the folder of its device libraries.
Path set_own_flags(Toolkit& toolkit, const FileReader& files) {
  toolkit.own_flags = {"--rocm-path=" + toolkit.home.string()};
  if (const Path bitcode = find_bitcode(toolkit, files); !bitcode.empty()) return bitcode;
  const Path bitcode = debian_bitcode(toolkit.home, files);
  if (!bitcode.empty()) toolkit.own_flags.push_back("--rocm-device-lib-path=" + bitcode.string());
  return bitcode;
}

tl::expected<void, std::string> describe(Toolkit& toolkit, System& system, FactStore& facts) {
  if (system.files.kind(toolkit.home / "include/hip/hip_runtime.h") != FileKind::file)
    return Reason("it has no include/hip/hip_runtime.h");
  const Path bitcode = set_own_flags(toolkit, system.files);
  auto said = answer_of(question_to_clang(toolkit, bitcode, system, facts), facts);
  if (!said) return Reason(said.error());
  toolkit.version = said->version;
  toolkit.targets = std::move(said->targets);
  toolkit.bundle_host = std::move(said->bundle_host);
  toolkit.headers = headers_version(toolkit.home, system.files);
  toolkit.library_dir = find_library_dir(toolkit.home, system.files);
  return {};
}

bool clang_answers_as_known(const Toolkit& toolkit, System& system, FactStore& facts) {
  Toolkit asked = toolkit;
  const Path bitcode = set_own_flags(asked, system.files);
  return answers_as_known(question_to_clang(asked, bitcode, system, facts), facts);
}

}  // namespace

const CompilerFamily k_hip_family = {.name = "HIP clang",
                                     .brand = "HIP",
                                     .tool = k_hip_tool,
                                     .vendor = amd,
                                     .compiler = "llvm/bin/clang++",
                                     .configuration = "llvm/bin/clang++.cfg",
                                     .host_option = nullptr,
                                     .home = &Settings::rocm_home,
                                     .home_option = "--rocm-home",
                                     .home_variables = {"ROCM_HOME", "ROCM_PATH", "HIP_PATH"},
                                     .candidates = hip_candidates,
                                     .other_compilers = hip_compilers,
                                     .describe = describe,
                                     .answers_as_known = clang_answers_as_known,
                                     .proof = proof_of_host_compiler,
                                     .question = hip_question,
                                     .parts = hip_parts,
                                     .device_parts = hip_device_parts,
                                     .include_question = hip_include_question};

}  // namespace dsbuild
