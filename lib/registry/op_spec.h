// The contents of an op.yaml as data (docs/reference/op_yaml.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/cpu_level.h"
#include "arch/target.h"
#include "base/text.h"
#include "base/version.h"

namespace dsbuild {

// Position in a spec file, for messages: "ops/native/x/op.yaml:3:9". All origins compare as equal, so the
// order of a file's lines never makes two specs differ.
struct Origin {
  std::string text;
  bool operator==(const Origin&) const { return true; }
};

enum class BackendKind { cuda, cpu, hip, sycl };

// `9.0` matches sm_90 and compute_90; `9.0a` that suffix only; `9.0-real`, `9.0-virtual` one kind;
// `gfx90a` the processor with whatever features, `gfx90a:xnack+` with that one.
struct ArchPattern {
  Target target;         // machine code if both kinds match
  bool any_kind = true;  // machine code and what a driver compiles
  bool matches(const Target& target) const;
  std::string text() const;
  bool operator==(const ArchPattern&) const = default;
};

// `archs:` of an op or a source.
struct ArchFilter {
  std::optional<Target> min, max;  // compare base()s: real and PTX alike
  std::vector<ArchPattern> only, exclude;
  // {9.0a}: if 9.0 is requested, build 9.0a instead. For machine code only; "9.0a-virtual" does this for PTX.
  std::vector<ArchPattern> specialise;
  Origin origin;
  bool empty() const { return !min && !max && only.empty() && exclude.empty() && specialise.empty(); }
  std::string text() const;  // ">= 8.0", "only 9.0a": for messages
  bool operator==(const ArchFilter&) const = default;
};

struct DroppedArch {
  Target target;
  std::string reason;  // "needs >= 8.0"
  bool operator==(const DroppedArch&) const = default;
};
struct FilteredArchs {
  ArchSet kept;                          // after specialise: has sm_90a if 9.0 was requested
  std::vector<DroppedArch> dropped;      // canonical order
  std::map<Target, Target> specialised;  // kept target -> the requested one
  bool operator==(const FilteredArchs&) const = default;
};
// Pure; the order of entries does not matter. min, max, only and exclude see the target after specialise.
FilteredArchs apply_filter(const ArchFilter& filter, const ArchSet& requested);

// `when:` on an entry of any list. All given conditions must hold; of a list of such maps, one must hold.
struct When {
  std::string any_arch,
      every_arch;  // ">=8.0", "<9.0", "==8.0" or a pattern ("9.0a"); over the op's final set
  std::optional<VersionRange> cuda, rocm, torch, source;
  std::string cpu;          // "x86_64" or "aarch64"
  std::string accelerator;  // "cuda" or "cpu": DeepSpeed's name for the devices that the ops serve
  std::optional<VersionRange> cpu_level;  // CpuLevel::number
  std::vector<When> or_else;              // the other maps of a list
  bool empty() const;
  std::string text() const;  // "torch <2.0 and DS_ACCELERATOR=cuda": for messages
  bool operator==(const When&) const = default;
};
// The values that conditions ask about, and those that a spec leaves to the machine. An unknown version makes
// its condition false. any_arch of an empty set is false, every_arch of it is false too.
struct WhenContext {
  ArchSet archs;
  Version cuda, rocm, torch, source;  // rocm: in a build for HIP alone, as cuda in one for CUDA
  int wavefront = 0;  // lanes, of all AMD targets in `archs`; 0: they differ, or there is none
  std::string cpu, accelerator;
  CpuLevel cpu_level;  // `-march=baseline` stands for its flags
  int usual_std = 17;  // of an op without `std`
};
bool holds(const When& when, const WhenContext& context);
// Why it does not hold, for a message: "7.5 in the list", "CUDA 11.8"; of a list, the first map's reason.
std::optional<std::string> refusal(const When& when, const WhenContext& context);
// Its `source` condition alone: false for a range of versions and an unknown version.
bool is_of_version(const When& when, const Version& source);
// May hold for these sources and this accelerator, with some torch, toolkit, CPU and list.
bool may_hold(const When& when, const Version& source, const std::string& accelerator);

template <class T>
struct Entry {
  T value{};
  When when;
  Origin origin;
  bool operator==(const Entry&) const = default;
};
using TextEntries = std::vector<Entry<std::string>>;

struct Flags {
  TextEntries cxx, nvcc, hip, sycl, link;  // nvcc, hip, sycl: of device code, of the backend's compiler
  bool operator==(const Flags&) const = default;
};

// One source file of an op, after globs and `for` were expanded: one translation unit (TU).
struct SourceSpec {
  std::string path;                                          // relative to the pack's source root, '/'
  std::vector<std::pair<std::string, std::string>> defines;  // of `for`, in key order
  std::vector<BackendKind> backends;           // in whose builds alone it is; empty: in all of the op's
  ArchFilter archs;                            // of the backend that the spec is for
  std::map<BackendKind, ArchFilter> archs_of;  // of each backend that says something
  Flags flags;
  When when;
  int seconds = 0;  // about what one arch of it takes to compile, where its size does not tell; 0: it does
  // Threads that each of the device's compilers may use for one arch of it. Their number changes bytes, so it
  // is never taken from the machine.
  int split_compile = 1;
  bool hipify = false;  // of CUDA: torch's hipify makes HIP of it where it is built for that
  Origin origin;
  bool is_cuda() const;  // by suffix .cu
  bool is_for(BackendKind kind) const;
  // By its name: cuda compiles .cu, hip .cu and .hip, sycl .sycl and .sycl.cpp.
  bool has_device_code(BackendKind kind) const;
  // Unique in the op: path, and for a `for` combination ",KEY=VALUE…".
  std::string id() const;
  bool operator==(const SourceSpec&) const = default;
};

// The flag of op.yaml that stands for those of --cpu-baseline.
inline constexpr const char* k_baseline_flag = "-march=baseline";
// Values of defines that stand for those of the build: of ROCm's version, and how many lanes a wavefront has.
inline constexpr const char *k_rocm_major_value = "rocm.major", *k_rocm_minor_value = "rocm.minor",
                            *k_wavefront_value = "rocm.wavefront";

enum class RequirementKind {
  cuda,
  header,
  library,
  folder,
  command,
  cpu_feature,
  module,
  tvm_ffi,
  torch,
  cutlass,
  source,
  hipify,
  wavefront
};

// Values of `in`: the folder that a relative path starts from.
inline constexpr const char *k_in_packages = "packages", *k_in_python = "python";
// Values of `for`: the folder is only for the sources of one language.
inline constexpr const char *k_for_cxx = "cxx", *k_for_nvcc = "nvcc";

const char* key_of(RequirementKind kind);  // as in op.yaml: "tvm_ffi"

// One entry of `requires:`.
//   {cuda: ">=11.0"}                     the chosen toolkit's version
//   {header: a/b.h}                      found by the host compiler's preprocessor
//   {library: aio, function: io_submit}  a program that calls it compiles and links; without `function`, one
//                                        that calls nothing. A header or library may have a place where it
//                                        is looked for first: `root: CCL_ROOT`, the folder that the variable
//                                        names, or `package: a/b`, that folder of Python's packages
//   {folder: a/include, in: packages}    headers outside of the pack: a folder below Python's packages,
//                                        `in: python` below sys.prefix, or an absolute one (gives it);
//                                        `for: cxx`, `for: nvcc` to the sources of one language
//   {command: [a, b]}                    one of them is on PATH
//   {cpu: avx2}                          the CPU of the machine that builds has the feature
//   {module: triton}                     Python's importlib finds it
//   {tvm_ffi: ">=0.1.15"}                tvm-ffi's headers and library (gives include and link flags)
//   {torch: ">=2.0"}                     torch; gives what a Python extension of torch is built with
//   {cutlass: ">=3.1"}                   CUTLASS's headers (gives include folders)
//   {source: a.cu, lacks: TEXT, because: WHY}  a file of the sources does not hold the text of a known fault
// Two requirements of ops for HIP have no entry. hipify: torch's hipify, if a source is hipified. wavefront:
// all targets have wavefronts of one size, if a define has that size as value (k_wavefront_value).
struct Requirement {
  RequirementKind kind = RequirementKind::cuda;
  std::vector<std::string> subjects;  // header, library, folder, any of commands, feature, module, source
  std::string function;               // of a library; may be ""
  std::string root;                   // of a header or library: a variable; "" : none
  std::string package;                // likewise: a folder below Python's packages
  std::string in;                     // of a folder: k_in_packages or k_in_python; "": it is absolute
  std::string language;               // of a folder, `for`: k_for_cxx, k_for_nvcc (device code); "": both
  std::string lacks, because;         // of a source: the text of the fault, and what is wrong with it
  VersionRange range;                 // cuda, tvm_ffi, torch, cutlass
  std::map<std::string, std::string> hint;  // "" : plain text; "apt", "dnf", "pacman"…: package names
  When when;
  Origin origin;
  std::string text() const;  // "library aio with io_submit"
  bool operator==(const Requirement&) const = default;
};

// The suffix of a module that uses only Python's limited API.
constexpr const char* k_limited_suffix = ".abi3.so";

struct OpSpec {
  std::string name;        // in a plan for several vendors with the backend: "fused_adam.hip"
  std::string plain_name;  // the name without the backend, if it differs
  std::string build_var;   // DS_BUILD_<NAME>
  std::string module;      // the Python module, if the op is one; else ""
  std::string
      module_suffix;  // ".so" or ".abi3.so", if its file does not have the suffix of Python's own modules
  std::string description;
  When when;  // `source`, `torch`, `accelerator` alone: the versions that have this op
  BackendKind backend = BackendKind::cuda;               // the one that this spec is for
  std::vector<BackendKind> backends{BackendKind::cuda};  // all that the op can be built for, including
                                                         // `backend`
  std::map<BackendKind, std::string> unsupported;  // other backends, and why the op does not support them
  ArchFilter archs;                                // of `backend`
  std::map<BackendKind, ArchFilter> archs_of;      // of each backend that says something
  std::vector<Entry<std::string>> needs;
  std::vector<SourceSpec> sources;                       // sorted by id: the order in the file never matters
  TextEntries include_dirs;                              // relative to the source root
  std::map<std::string, std::string> include_languages;  // the `for` of those that have one
  std::vector<Entry<std::pair<std::string, std::string>>> defines;  // name, value ("" : no value)
  std::map<std::string, std::string>
      features;  // a define that matters to users -> the feature that it stands for
  std::optional<int> std_cxx, std_nvcc, std_hip,
      std_sycl;  // absent: torch's own for a torch extension, else 17
  Flags flags;
  TextEntries libraries;
  bool warns_of_undefined_symbols = false;  // for a module whose importing program has loaded the definitions
  std::vector<Requirement> requires_;
  TextEntries exports;
  Path file;  // its op.yaml
  const std::string& op_name() const { return plain_name.empty() ? name : plain_name; }
  bool operator==(const OpSpec&) const = default;
};

// Whether its CUDA is compiled with -rdc=true: then a device link makes its images, machine code only.
bool makes_device_link(const OpSpec& spec);

// Whether a define or a flag has that value.
bool has_value(const OpSpec& spec, const std::string& value);

// The same op for a different one of its backends. Replaces `backend` and `archs`, also those of its sources.
OpSpec for_backend(OpSpec spec, BackendKind kind);

}  // namespace dsbuild
