// Reads and writes manifest.json, which describes a bundle (docs/reference/manifest.md). A folder without it
// is no bundle. It is sorted, and has no time, host or absolute path, so the same build gives the same bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/target.h"
#include "base/result.h"

namespace dsbuild {

struct ManifestSource {
  std::string path;  // SourceSpec::id(): relative to the pack's source root
  std::string sha256;
  ArchSet archs;  // those of its object; empty for a host-only TU, and if the op has a device link
  bool operator==(const ManifestSource&) const = default;
};

// The minimal CPU for an op.
struct ManifestCpu {
  std::string level;                  // "x86-64-v3"
  std::vector<std::string> features;  // words of /proc/cpuinfo that the CPU must have; sorted
  bool operator==(const ManifestCpu&) const = default;
};

// What a library needs on the machine that loads it.
struct ManifestRuntime {
  std::vector<std::string> libraries;  // DT_NEEDED, in the file's order
  // The lowest sufficient versions, by the names of symbol versions: GLIBC "2.34", GLIBCXX and CXXABI (both
  // of libstdc++), GCC (of libgcc_s), GOMP …
  std::map<std::string, std::string> versions;
  bool operator==(const ManifestRuntime&) const = default;
};

// Whether it needs torch's libraries. If such a library has no PyInit_, its constructors register operators
// with torch (TORCH_LIBRARY).
bool needs_torch(const ManifestRuntime& runtime);

struct ManifestOp {
  std::string name;             // in several entries if several backends build the op
  std::string module;           // Python module, or ""
  std::string module_suffix{};  // ".so"; "": that of all modules (ManifestTorch::ext_suffix)
  std::string backend;          // "cuda", "cpu", "hip"
  std::string file;  // "fused_adam.so", or "fused_adam.hip.so" if several backends build it; relative to the
                     // bundle
  std::string sha256;
  unsigned long long bytes = 0;
  ArchSet archs;                     // the op's set; empty for a CPU op
  std::map<Target, int> images;      // multiset of device images in the library
  std::vector<std::string> exports;  // declared in the spec
  std::vector<std::string> needs;
  std::vector<ManifestSource> sources;  // sorted by path, which is the order of the link
  bool device_link = false;  // the sources' device code was linked to one module for `archs`, so no source
                             // has its own
  std::optional<ManifestCpu> cpu_baseline;
  std::vector<std::string> features_off;   // "bf16: off (7.5 in the list)"
  std::optional<ManifestRuntime> runtime;  // nullopt: an older dsbuild wrote the manifest

  // Its path below a folder of Python packages: "deepspeed/ops/adam/fused_adam_op" with module_suffix, or
  // `suffix` if that is ""; "": it is no module.
  std::string module_file(const std::string& suffix) const;
  std::string planned_as()
      const;  // its name in a plan, which also begins the name of its file: "fused_adam.hip"
  // The archs of each source with device code, in the order of the link.
  std::vector<ArchSet> modules() const;
  bool operator==(const ManifestOp&) const = default;
};

struct ManifestToolkit {      // all empty for a CPU-only bundle
  std::string version;        // "13.0.88"
  std::string host_compiler;  // "gcc 12.2.0"
  std::string compiler_sha256;
  bool operator==(const ManifestToolkit&) const = default;
};

// The torch that the ops are compiled against; they cannot be loaded with a different one.
struct ManifestTorch {
  std::string version;      // "2.11.0+cu130"
  std::string cuda;         // "13.0", or ""
  std::string hip;          // likewise
  bool cxx11_abi = true;    // _GLIBCXX_USE_CXX11_ABI
  std::string python;       // "cp311"
  std::string ext_suffix;   // ".cpython-311-x86_64-linux-gnu.so"
  std::string accelerator;  // "cuda" or "cpu": what DeepSpeed must run on to load them
  bool operator==(const ManifestTorch&) const = default;
};

struct Manifest {
  std::string dsbuild;  // version
  std::string pack;
  std::string source_version;                          // of the pack's sources ("0.19.8"), or ""
  std::string license;                                 // of the pack's ops: an SPDX expression, or ""
  std::map<std::string, std::string> license_files{};  // of the pack's sources: name, text
  std::map<std::string, std::string> urls{};           // of the pack: label, address
  std::string build_string;                            // DS_BUILD_STRING
  ManifestToolkit toolkit;                             // CUDA's
  ManifestToolkit hip, sycl;                           // the compilers only
  std::string cxx;                                     // host compiler of CPU ops and bindings: "gcc 12.2.0"
  std::string tvm_ffi;                                 // version, or ""
  // Python packages that the ops require, as in METADATA: "apache-tvm-ffi>=0.1.15"; sorted.
  std::vector<std::string> requires_dist{};
  std::optional<ManifestTorch> torch;
  std::string compress_mode;  // "" if the toolkit has no such option
  std::vector<std::string> nvcc_prepend_flags, nvcc_append_flags;
  ArchSet requested, shared;
  std::vector<ManifestOp> ops;                              // sorted by name
  std::vector<std::pair<std::string, std::string>> failed;  // op, and what failed (--keep-going)

  // Finds an op by its name in a plan or by its own name, of which several backends may have one: the first.
  // nullptr: none has this name.
  const ManifestOp* find(const std::string& op) const;
  std::vector<const ManifestOp*> find_all(const std::string& op) const;  // by its own name, for each backend
  bool operator==(const Manifest&) const = default;
};

std::string render_manifest(const Manifest& manifest);  // JSON, "schema": 1, two-space indent, final newline
// Strict about types; ignores unknown keys. Error: exit 1 `bad_manifest`, `where` = file.
Result<Manifest> parse_manifest(std::string_view json, const std::string& file);

}  // namespace dsbuild
