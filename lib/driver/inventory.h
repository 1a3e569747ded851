// What is in a bundle, or in a build folder: of what, for which archs and why, and how large it is. `dsbuild
// diff` and `dsbuild page` are made of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binary/kernels.h"
#include "bundle/manifest.h"
#include "driver/plan.h"
#include "driver/timings.h"

namespace dsbuild {

struct InventorySource {
  std::string path;  // SourceSpec::id()
  std::string sha256;
  ArchSet archs;
  std::vector<std::string> flags;  // of its compile, without archs; of a build alone
  bool operator==(const InventorySource&) const = default;
};

// The device images of one arch in a library.
struct InventoryImages {
  Target target;
  size_t count = 0;
  uint64_t bytes = 0;  // as they are stored
  bool operator==(const InventoryImages&) const = default;
};

struct InventoryLibrary {
  uint64_t bytes = 0;
  std::string sha256;
  std::vector<InventoryImages> images;  // in canonical order
  std::vector<ArchSet> modules;         // of each file with device code
  std::vector<ImageKernels> kernels;    // where they were asked for
  uint64_t host_bytes() const;          // all that is no device image
};

struct InventoryOp {
  std::string name;
  bool is_built = false;
  std::string reason;  // why not, or why it is built unasked; of a build alone
  ArchSet archs;
  std::vector<PlanDrop> dropped;  // of a bundle: what was requested and is not there, with no reason
  std::vector<std::string> exports, needs, features_off;
  std::vector<std::string> runtime;  // of a bundle alone: "libgomp.so.1", "GLIBC 2.34", "CPU x86-64-v3"
  std::vector<InventorySource> sources;
  std::vector<std::string> link_flags;  // of a build alone
  std::optional<InventoryLibrary> library;
};

struct Inventory {
  std::string path;
  bool is_build = false;
  std::vector<std::pair<std::string, std::string>> facts;  // "toolkit": "13.0.88"; those that there are
  ArchSet requested, shared;
  std::vector<InventoryOp> ops;  // those that were wanted, sorted by name
  std::optional<Timings> timings;
  std::vector<Warning> warnings;  // libraries whose kernels cannot be listed
  const InventoryOp* find(const std::string& op) const;
};

struct PlanFileInput {
  const Survey& survey;
  const NeededTools& needed;
  const ArchPlan& archs;
  const SourceDigests& source_digests;
  const BuildPlan& graph;
  const std::vector<SlicedCommand>& sliced_commands;  // of `graph`
};

// plan.json of a build folder: the same without what lies in files.
std::string render_plan_file(const PlanFileInput& plan);
// Errors: exit 1 `bad_build_file`.
Result<Inventory> parse_plan_file(std::string_view json, const std::string& file);

// Of the folder of a bundle or a build. To list kernels, images are unpacked, which takes its time. Errors:
// exit 2 `no_bundle_or_build`; `bad_build_file`, `bad_manifest`, `io`, and those of read_binary.
enum class Kernels { passed_over, listed };
Result<Inventory> take_inventory(const Path& folder, const FileReader& files, DigestMemo& digests,
                                 Kernels kernels = Kernels::passed_over);

}  // namespace dsbuild
