// {torch: ">=2.4"}: the version of the installed torch, which is not imported. For an op with a `module`,
// that is a Python extension of torch, also whether it can be built here, and what torch's own builder would
// add to it.
#include <algorithm>
#include <array>
#include <set>

#include "requirements/hints.h"
#include "requirements/probe.h"
#include "toolkit/cuda_versions.h"
#include "toolkit/fetchable.h"

namespace dsbuild {
namespace {

constexpr const char* k_other_python = ", or name another Python with --python";

bool is_cuda(const ProbeInput& input) {
  return input.op.backend == BackendKind::cuda;
}

bool is_hip(const ProbeInput& input) {
  return input.op.backend == BackendKind::hip;
}

std::string name_of(const Torch& torch) {
  return "torch " + torch.version;
}

// What torch's headers refuse (c10/util/C++17.h), and what the standard asks for.
struct CompilerRow {
  int std;
  int gcc, clang;  // the oldest major
};
constexpr std::array<CompilerRow, 2> k_compilers{{{17, 9, 9}, {20, 10, 10}}};

std::optional<Finding> too_old_compiler(const ProbeInput& input, const Torch& torch) {
  const HostCompiler* compiler = input.cxx;
  if (is_cuda(input) && input.toolkit && input.toolkit->host) compiler = &*input.toolkit->host;
  if (compiler == nullptr) return no_compiler(input);
  for (const CompilerRow& row : k_compilers) {
    const int oldest = compiler->family == "clang" ? row.clang : row.gcc;
    if (row.std != torch.std || compiler->version.major() >= oldest) continue;
    const std::string needed = compiler->family + " " + std::to_string(oldest);
    return unmet(
        input,
        name_of(torch) + " needs " + needed + " or newer; " + compiler->path.string() + " is " +
            compiler->version.text(),
        "Install " + needed + " or newer and name it in " + (is_cuda(input) ? "CUDAHOSTCXX" : "CXX") + ".");
  }
  return std::nullopt;
}

std::optional<Finding> missing_headers(const ProbeInput& input, const Torch& torch) {
  const FileReader& files = input.system.files;
  const Path header = torch.home / "include" / "torch" / "csrc" / "api" / "include" / "torch" / "all.h";
  if (files.kind(header) != FileKind::file)
    return unmet(input, name_of(torch) + " in " + torch.home.string() + " has no C++ headers",
                 std::string("Install torch from its wheel") + k_other_python + ".");
  if (files.kind(torch.python.include_dir / "Python.h") == FileKind::file) return std::nullopt;
  return unmet(input, "no Python.h in " + torch.python.include_dir.string(),
               std::string("Install Python's headers (python3-dev, python3-devel)") + k_other_python + ".");
}

std::optional<Finding> no_cuda(const ProbeInput& input, const Torch& torch) {
  if (!torch.cuda.empty()) return std::nullopt;
  return unmet(
      input,
      name_of(torch) + (torch.hip.empty() ? " is built without CUDA" : " is built for ROCm " + torch.hip),
      std::string("Install a torch that is built for CUDA") + k_other_python + ".");
}

// is_rocm_pytorch of DeepSpeed's op_builder, but for ROCm itself, which is the toolkit's matter.
std::optional<Finding> no_rocm(const ProbeInput& input, const Torch& torch) {
  if (!torch.hip.empty()) return std::nullopt;
  return unmet(
      input,
      name_of(torch) + (torch.cuda.empty() ? " is built without ROCm" : " is built for CUDA " + torch.cuda),
      std::string("Install a torch that is built for ROCm") + k_other_python + ".");
}

std::string both_versions(const ProbeInput& input, const Torch& torch) {
  return input.toolkit->short_name() + " does not go with " + name_of(torch) + ", which is of CUDA " +
         torch.cuda;
}

Finding mismatch(const ProbeInput& input, const Torch& torch) {
  const Version cuda = parse_version(torch.cuda).value_or(Version{});
  std::string how = "--cuda-home DIR";
  for (const FetchableToolkit* row : fetchable_for(k_nvcc_family, {}, cuda))
    how += std::string(", `dsbuild toolkits get ") + row->word + "`";
  return unmet(input, both_versions(input, torch),
               "Use a toolkit of CUDA " + matching_cuda_text(cuda) + " (" + how + "), or a torch of CUDA " +
                   matching_cuda_text(input.toolkit->version) +
                   "; with DS_SKIP_CUDA_CHECK=1 it is built all the same.");
}

// Goes on with a note or a warning where the versions may differ.
std::optional<Finding> check_cuda(const ProbeInput& input, const Torch& torch, Finding& good) {
  if (auto without = no_cuda(input, torch)) return without;
  if (input.toolkit == nullptr) return std::nullopt;
  switch (match_cuda(input.toolkit->version, parse_version(torch.cuda).value_or(Version{}))) {
    case CudaMatch::same:
      return std::nullopt;
    case CudaMatch::compatible:
      good.why += "; CUDA " + input.toolkit->version.short_text() + " goes with its " + torch.cuda;
      return std::nullopt;
    case CudaMatch::mismatch:
      break;
  }
  if (!input.settings.skip_cuda_check.value) return mismatch(input, torch);
  good.why += "; " + both_versions(input, torch) + " (DS_SKIP_CUDA_CHECK)";
  good.warning = warning("cuda_mismatch", input.settings.skip_cuda_check.origin, both_versions(input, torch),
                         "Whether the ops load and run is not known: use a toolkit of CUDA " +
                             matching_cuda_text(parse_version(torch.cuda).value_or(Version{})) + ".");
  return std::nullopt;
}

void add(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// For ROCm. HIP's runtime is that of the process, which torch's own libraries bring.
void add_hip_build(const ProbeInput& input, const Torch& torch, UsageRequirements& usage) {
  usage.base_hip_flags = torch.hip_flags;
  add(usage.base_hip_flags, torch.hipcc_flags);
  add(usage.base_hip_flags, usage.base_cxx_flags);
  add(usage.base_cxx_flags, torch.hip_flags);
  add(usage.link_flags, {"-lc10_hip", "-ltorch_hip"});
  const Path include = input.toolkit ? input.toolkit->include_dir() : Path{};
  if (!include.empty() && include != "/usr/include") usage.fallback_include_dirs.push_back(include.string());
}

// As torch.utils.cpp_extension builds an extension. -isystem: none of these headers is ours to warn about.
UsageRequirements extension_build(const ProbeInput& input, const Torch& torch) {
  const std::vector<std::string> defines = {"-DTORCH_API_INCLUDE_EXTENSION_H",
                                            "-DTORCH_EXTENSION_NAME=" + last_component(input.op.module)};
  UsageRequirements usage;
  usage.python_module = true;
  usage.std = torch.std;
  usage.roots = {{"torch", torch.home.string()},
                 {"nvidia", (torch.home.parent_path() / "nvidia").string()},
                 {"python", torch.python.include_dir.string()}};
  usage.include_dirs = {(torch.home / "include").string(),
                        (torch.home / "include" / "torch" / "csrc" / "api" / "include").string(),
                        torch.python.include_dir.string()};
  for (const std::string& folder : torch.old_headers)
    usage.include_dirs.insert(usage.include_dirs.end() - 1, (torch.home / "include" / folder).string());
  usage.base_cxx_flags = defines;
  add(usage.base_cxx_flags, torch.abi_flags);
  usage.base_nvcc_flags = {"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
                           "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
                           "--expt-relaxed-constexpr"};
  add(usage.base_nvcc_flags, usage.base_cxx_flags);
  usage.link_flags = {"-L" + (torch.home / "lib").string(), "-lc10", "-ltorch", "-ltorch_cpu"};
  // A module for all Pythons leaves this one out, as torch does with py_limited_api: it is of one Python.
  if (input.op.module_suffix != k_limited_suffix) usage.link_flags.emplace_back("-ltorch_python");
  if (is_cuda(input)) add(usage.link_flags, {"-lc10_cuda", "-ltorch_cuda"});
  if (is_hip(input)) add_hip_build(input, torch, usage);
  return usage;
}

// "libcurand.so.10" -> "curand"; "" for a file of another kind.
std::string versioned_library(const std::string& file) {
  const size_t suffix = file.find(".so.");
  return file.rfind("lib", 0) == 0 && suffix != std::string::npos ? file.substr(3, suffix - 3) : "";
}

// pip's CUDA has libraries under their versioned names alone, which no -l finds.
void add_versioned_libraries(const FileReader& files, const Path& folder, UsageRequirements& usage) {
  const std::vector<std::string> names = files.list(folder).value_or(std::vector<std::string>{});
  const std::set<std::string> present(names.begin(), names.end());
  for (const std::string& file : names) {
    const std::string library = versioned_library(file);
    if (!library.empty() && present.count("lib" + library + ".so") == 0)
      usage.library_files.emplace(library, file);
  }
}

// torch's headers include those of cuBLAS, cuSPARSE and cuSOLVER. A toolkit from pip may lack them; torch was
// installed with the libraries and their headers, in the folders nvidia/* beside it.
void add_cuda_of_torch(const ProbeInput& input, const Torch& torch, UsageRequirements& usage) {
  const FileReader& files = input.system.files;
  add_versioned_libraries(files, input.toolkit->library_dir, usage);
  if (files.kind(input.toolkit->include_dir() / "cusparse.h") == FileKind::file) return;
  const Path nvidia = torch.home.parent_path() / "nvidia";
  for (const std::string& name : files.list(nvidia).value_or(std::vector<std::string>{})) {
    if (files.kind(nvidia / name / "include") == FileKind::directory)
      usage.fallback_include_dirs.push_back((nvidia / name / "include").string());
    if (files.kind(nvidia / name / "lib") != FileKind::directory) continue;
    usage.fallback_link_flags.push_back("-L" + (nvidia / name / "lib").string());
    add_versioned_libraries(files, nvidia / name / "lib", usage);
  }
}

Finding probe_extension(const ProbeInput& input, const Torch& torch, Finding good) {
  for (const auto check : {missing_headers, too_old_compiler})
    if (auto refused = check(input, torch)) return *refused;
  if (is_cuda(input))
    if (auto refused = check_cuda(input, torch, good)) return *refused;
  if (is_hip(input))
    if (auto refused = no_rocm(input, torch)) return *refused;
  good.usage = extension_build(input, torch);
  if (is_cuda(input) && input.toolkit != nullptr) add_cuda_of_torch(input, torch, good.usage);
  return good;
}

}  // namespace

Finding probe_torch(const ProbeInput& input) {
  if (!input.torch) return unmet(input, input.torch.error().what);
  const Torch& torch = *input.torch;
  Finding finding = input.requirement.range.contains(torch.number())
                        ? met(input, name_of(torch))
                        : unmet(input, name_of(torch) + " is not " + input.requirement.range.text);
  finding.version = torch.number().text();
  return finding.ok && !input.op.module.empty() ? probe_extension(input, torch, std::move(finding)) : finding;
}

}  // namespace dsbuild
