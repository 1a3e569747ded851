// Proof that binaries hold what was planned (design: promise 1).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "binary/image.h"
#include "bundle/manifest.h"
#include "bundle/verify_module.h"
#include "sys/file_system.h"

namespace dsbuild {

// In the place of a source: of all of an op's, by a device link.
inline constexpr const char* k_device_code = "device code";

// Of a difference: what stands before the symbol.
inline constexpr const char* k_does_not_export = " does not export ";

// The outputs that one op's build must have. The plan writes them next to build.ninja as check/<op>.json, and
// the graph's verify edge reads them.
struct ExpectedObject {
  std::string source;  // SourceSpec::id()
  std::string file;    // object, relative to the build folder
  ArchSet archs;       // empty for host-only TUs
  bool operator==(const ExpectedObject&) const = default;
};
struct ExpectedOp {
  std::string op;
  std::string library;  // relative to the build folder
  std::vector<ExpectedObject> objects;
  std::vector<std::string> exports;
  std::optional<ModuleLink> module = {};  // of one whose link has let undefined symbols pass
  bool operator==(const ExpectedOp&) const = default;
};
std::string render_expected(const ExpectedOp& expected);  // JSON
Result<ExpectedOp> parse_expected(std::string_view json, const std::string& file);

// One difference, as a sentence that names op, source (or library) and arch:
// "fused_adam: fused_adam/fused_adam.cu has no sm_70 image", "fused_adam: fused_adam.so has an image that
// was not planned: sm_75 (1 more than its sources give)", "cpu_adam: cpu_adam.so does not export
// cpu_adam_step", "vecadd: vecadd.so needs vec_add(float*), which neither its libraries nor Python has".
struct Difference {
  std::string op;
  std::string file;
  std::string what;
  bool is_warning = false;  // the op is as it should be all the same
  bool operator==(const Difference&) const = default;
};

std::map<Target, int> count_images(const std::vector<DeviceImage>& images);

// Each object's images against its own TU's set (each target exactly once), and the library's multiset
// against the sum over its objects' sets; exports present; what a Python module needs of others is there.
// Empty: all as planned. Errors: exit 1 for unreadable files.
Result<std::vector<Difference>> verify_op(const ExpectedOp& expected, const Path& build_dir,
                                          const FileReader& files);

// A published bundle against its manifest: every file there, no other file (but those of its provenance, and
// what the wheel that it came in lists in its RECORD), sizes and sha256, images (multiset) and exports,
// `needs` present. When a library's images differ and its per-source sets are in the manifest's count, the
// op, the file and the arch are named.
Result<std::vector<Difference>> verify_bundle(const Path& bundle, const FileReader& files);

// Before something is made of it. Errors: those of verify_bundle; exit 1 `damaged_bundle` for a difference.
Result<void> check_undamaged(const Path& bundle, const FileReader& files);

// Ops that are built for more than a CPU with these features (Host::cpu_features) has: warnings `lesser_cpu`.
// The bundle is as it should be; this machine must not load them.
std::vector<Warning> lesser_cpu_warnings(const Manifest& manifest, const std::string& cpu_features);

}  // namespace dsbuild
