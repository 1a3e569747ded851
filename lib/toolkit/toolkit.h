// Finds and chooses the toolkits of this machine. A toolkit is a device compiler with its libraries, such as
// CUDA.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/arch_list.h"
#include "arch/vendor.h"
#include "base/result.h"
#include "base/version.h"
#include "settings/settings.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/system.h"
#include "toolkit/cuda_versions.h"
#include "toolkit/host_compiler.h"

namespace dsbuild {

struct CompilerFamily;                      // toolkit/family.h
extern const CompilerFamily k_nvcc_family;  // CUDA's
extern const CompilerFamily k_hip_family;   // ROCm's
extern const CompilerFamily k_icpx_family;  // oneAPI's

// One installation whose compiler runs.
struct Toolkit {
  const CompilerFamily* family = &k_nvcc_family;
  Path home;           // real path; holds bin/nvcc and include/, or what ROCm has: include/hip, lib/
  std::string origin;  // "--cuda-home", "CUDA_HOME", "CUDA_PATH", "PATH", "/usr/local", "Debian", "conda",
                       // "pip", "dsbuild"; "--rocm-home", "ROCM_HOME", "ROCM_PATH", "HIP_PATH", "/opt"
  std::string other_compiler;  // below home, where it is not where its family has it
  std::vector<std::string>
      own_flags;    // with which its compiler finds the rest of it: "--rocm-path=/opt/rocm"
  Version version;  // of its compiler: 13.0.88
  Version headers;  // of HIP's headers: 6.3.42134; empty: they have the compiler's
  ArchSet targets;  // every one of its vendor's that it compiles; of nvcc, `a` and `f` too; of HIP's, with
                    // each choice of features
  std::set<std::string> options;  // its compiler's long options: "--compress-mode", "--frandom-seed"
  std::string bundle_host;        // HIP's: what stands for the host in its bundles
  Path library_dir;               // holds libcudart_static.a, or libamdhip64.so
  Path stubs_dir;       // of libraries that stand for the driver's: libcuda.so; empty: there is none
  Path include_folder;  // with cuda_runtime_api.h; empty: include
  Path cccl_folder;     // in it, since CUDA 13: with <cuda/std/…> and <nv/target>, which nvcc finds unasked
  // Its folder of headers as nvcc spells it ("<home>/bin/../targets/x86_64-linux/include"), then as others
  // may. Empty: another compiler's.
  std::vector<std::string> include_spellings;
  std::string compiler_digest;  // SHA-256
  HostCompilerBounds bounds;
  std::optional<HostCompiler> host;  // the first of the machine's compilers that it accepts

  Path compiler() const;           // <home>/bin/nvcc, <home>/llvm/bin/clang++
  const Vendor& vendor() const;    // of its targets
  std::string name() const;        // "CUDA 13.0.88", "HIP clang 22.1.8"
  std::string short_name() const;  // "CUDA 13.0", "HIP clang 22.1"
  Path include_dir() const { return include_folder.empty() ? home / "include" : include_folder; }
  int version_code() const { return version.major() * 100 + version.minor(); }  // 1300
  bool has_option(const std::string& long_option) const { return options.count(long_option) > 0; }
  bool operator==(const Toolkit&) const = default;
};

// A folder whose compiler cannot be used, or that the user named although it is no toolkit.
struct RejectedToolkit {
  Path home;
  std::string origin;
  std::string reason;  // "it has no bin/nvcc", "bin/nvcc does not run: …", "nvcc --help lists no gpu code"
  const CompilerFamily* family = &k_nvcc_family;
  bool operator==(const RejectedToolkit&) const = default;
};

struct Toolkits {
  std::vector<Toolkit> found;  // in order of preference, each home once (by real path)
  std::vector<RejectedToolkit> rejected;
  std::vector<HostCompiler> host_compilers;
  bool operator==(const Toolkits&) const = default;
};

// Candidates in order: --cuda-home, CUDA_HOME, CUDA_PATH, nvcc on PATH, /usr/local/cuda, /usr/local/cuda-*
// (highest first), Debian's layout (/usr/lib/nvidia-cuda-toolkit), conda ($CONDA_PREFIX), pip's nvidia/cu*
// folders (site-packages of $VIRTUAL_ENV and of python3 on PATH, found without starting Python),
// <cache>/toolkits/* (itself, or nvidia/cu* in it). At most two nvcc starts per toolkit (--version, --help),
// none when `facts` knows this nvcc by its identity. Each nvcc is run with its own bin folder first in PATH.
// After them HIP's: --rocm-home, ROCM_HOME, ROCM_PATH, HIP_PATH, that of hipcc on PATH, /opt/rocm,
// /opt/rocm-* (highest first), TheRock's packages (_rocm_sdk_devel, _rocm_sdk_core), Debian's (/usr, with
// each clang that is there), <cache>/toolkits/hip-*. A clang targets the archs that it finds device
// libraries for: dry runs ask it.
Toolkits find_toolkits(const Settings& settings, System& system, FactStore& facts, DigestMemo& digests);

// The toolkit of a given nvcc, without a host compiler. The error is the reason why it is no known toolkit.
tl::expected<Toolkit, std::string> find_toolkit_of(const Path& nvcc, System& system, FactStore& facts,
                                                   DigestMemo& digests);

// The environment in which this toolkit's tools and their host compiler run: the toolkit's bin first in PATH,
// TMPDIR relative to the build folder, LC_ALL=C; of the caller's HOME, PATH after the toolkit's, the absolute
// folders of LD_LIBRARY_PATH, and the variables that are handed on. The folder that TMPDIR names
// (base/build_layout.h) must exist where a tool runs.
Environment tool_environment(const System& system, const Toolkit* toolkit);

// Of the caller's variables those that compilers, linkers and their wrappers read, by a closed list (CPATH,
// LIBRARY_PATH, COMPILER_PATH, SOURCE_DATE_EPOCH, SPACK_* and the like: tool_environment.cpp), and those that
// System::tools names. Of lists of folders the absolute ones: tools run in another folder than the caller.
Environment handed_on_variables(const System& system);
// A line of each, "<sha256 of its value> variable <name>": a part of what tools are (ToolText::text).
std::string text_of_variables(const System& system);

// The folder in which tools answer questions: the build folder, because a wrapper may choose by the current
// folder. If it does not exist yet, the nearest existing folder above it. "": the current folder.
Path asking_folder(const System& system);
// A command that asks a tool in that folder (Command::is_question).
Command question_to_tool(std::vector<std::string> argv, Environment environment, const System& system,
                         std::chrono::seconds timeout = std::chrono::seconds(60));

// The requirements of a set of ops for a toolkit.
struct ToolkitDemand {
  const Vendor* vendor = nullptr;  // of the GPUs that it is for; nullptr: NVIDIA
  bool is_needed = false;          // an op that is wanted is built with it
  ArchRequest request;
  // The targets that the selected ops keep of the request, as far as they are known without a toolkit: of its
  // own targets, and of the GPUs' targets for native. A target that no op keeps does not count against a
  // toolkit. Not looked at for the default list.
  ArchSet kept;
  Version torch_cuda;  // of the torch that a selected CUDA op is an extension of; else empty
};
// Pure. The first toolkit in order that targets all of `kept` and has a host compiler; all, all-major and
// the default list ask for nothing of their own, so they take the first. Toolkits that do not go with torch's
// CUDA are passed over where one does; where none does, the ops' findings say so. --cuda-home is a demand,
// CUDA_HOME and CUDA_PATH are a preference (warning `other_toolkit` when another one is used). With
// --drop-unsupported-archs the toolkit that lacks least is taken, the first among equals (warning
// `archs_dropped`); `requested` still holds what it lacks, plan_archs drops it.
// Errors, exit 3: `no_toolkit`; `toolkit_lacks_archs` (names per installed toolkit what it lacks, the CUDA
// versions that cover all, and the commands that work: `dsbuild toolkits get …`, --drop-unsupported-archs);
// `no_host_compiler` (a toolkit would do, but accepts no compiler of this machine); `no_gpu`.
struct ChosenToolkit {
  Toolkit toolkit;
  ArchSet requested;  // resolved with this toolkit
  std::vector<Warning> warnings;
};
Result<ChosenToolkit> choose_toolkit(const Settings& settings, const Toolkits& toolkits,
                                     const ToolkitDemand& demand, const std::vector<Target>& gpus);

struct Gpu {
  std::optional<Target> arch;  // as an arch list calls it: 9.0, gfx90a; nullopt: nothing is built for it
  std::string name{};          // "NVIDIA H100 80GB HBM3", "aldebaran", "Intel 8086:56a0"
  std::string driver{};        // "580.65.06", "xe"; "" where amdgpu is the kernel's own
  bool is_integrated = false;  // into a processor of Intel's
  bool operator==(const Gpu&) const = default;
};
// The GPUs that nvidia-smi lists, and those of amdgpu, i915 and xe, lowest arch first; empty without one.
std::vector<Gpu> find_gpus(System& system);
// The archs of those GPUs that ops can run on, in their order. As for torch, integrated GPUs count only where
// there is no other GPU.
std::vector<Target> archs_to_serve(const std::vector<Gpu>& gpus);
// The same, ascending, each once.
std::vector<Target> archs_of_gpus(const std::vector<Gpu>& gpus);

// For `dsbuild toolkits --for`: what it takes to serve the demand. `have`: choose_toolkit succeeds. A toolkit
// without a host compiler is not had; getting one brings a compiler it accepts. `get`: the first that can be
// fetched and targets all (toolkit/cuda_versions.h); `impossible` where none does, or --cuda-home demands one
// that does not.
struct ToolkitAdvice {
  enum class Kind { none_needed, have, get, impossible };
  Kind kind = Kind::impossible;
  std::string version;  // to get: "13.5"
  bool operator==(const ToolkitAdvice&) const = default;
};
ToolkitAdvice advise_toolkit(const Settings& settings, const Toolkits& toolkits, const ToolkitDemand& demand,
                             const std::vector<Target>& gpus, bool needs_toolkit);

}  // namespace dsbuild
