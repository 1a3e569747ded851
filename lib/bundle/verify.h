// Checks that the built binaries have exactly the planned device code and symbols.
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

// Stands for all sources of an op that has a device link.
inline constexpr const char* k_device_code = "device code";

// The words before the symbol in a Difference.
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
  std::optional<ModuleLink> module = {};  // for a link that allows undefined symbols
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
  bool is_warning = false;  // the op is usable nevertheless
  bool operator==(const Difference&) const = default;
};

std::map<Target, int> count_images(const std::vector<DeviceImage>& images);

// Compares each object's images with its own TU's set (each target exactly once), and the library's multiset
// with the sum over its objects' sets. Checks that all exports are there, and that each symbol which a Python
// module needs is defined. Empty: all as planned. Errors: exit 1 for unreadable files.
Result<std::vector<Difference>> verify_op(const ExpectedOp& expected, const Path& build_dir,
                                          const FileReader& files);

// Compares a published bundle with its manifest: files, sizes, sha256, images (multiset) and exports; `needs`
// must be present. Further files are differences, except those of the provenance, and those that the RECORD
// of the wheel lists in which the bundle came. Each difference of images names op, file and arch.
Result<std::vector<Difference>> verify_bundle(const Path& bundle, const FileReader& files);

// To be called before a bundle is used to make something. Errors: those of verify_bundle; exit 1
// `damaged_bundle` for a difference.
Result<void> check_undamaged(const Path& bundle, const FileReader& files);

// Warnings `lesser_cpu` for ops that need more than a CPU with these features has (Host::cpu_features). The
// bundle is valid, but this machine must not load these ops.
std::vector<Warning> lesser_cpu_warnings(const Manifest& manifest, const std::string& cpu_features);

}  // namespace dsbuild
