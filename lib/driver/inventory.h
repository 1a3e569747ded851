// Lists the contents of a bundle or a build folder: sources, archs and reasons, sizes. `dsbuild diff` and
// `dsbuild page` show it.
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
  std::vector<std::string> flags;  // of its compile, without archs; only for a build
  bool operator==(const InventorySource&) const = default;
};

// The device images of one arch in a library.
struct InventoryImages {
  Target target;
  size_t count = 0;
  uint64_t bytes = 0;  // as stored, compressed or not
  bool operator==(const InventoryImages&) const = default;
};

struct InventoryLibrary {
  uint64_t bytes = 0;
  std::string sha256;
  std::vector<InventoryImages> images;  // in canonical order
  std::vector<ArchSet> modules;         // the archs of each file with device code
  std::vector<ImageKernels> kernels;    // if they were requested
  uint64_t host_bytes() const;          // all bytes outside device images
};

struct InventoryOp {
  std::string name;
  bool is_built = false;
  std::string reason;  // why not, or why it is built although not requested; only for a build
  ArchSet archs;
  std::vector<PlanDrop> dropped;  // for a bundle: requested archs that it lacks, without reasons
  std::vector<std::string> exports, needs, features_off;
  std::vector<std::string> runtime;  // only for a bundle: "libgomp.so.1", "GLIBC 2.34", "CPU x86-64-v3"
  std::vector<InventorySource> sources;
  std::vector<std::string> link_flags;  // only for a build
  std::optional<InventoryLibrary> library;
};

struct Inventory {
  std::string path;
  bool is_build = false;
  std::vector<std::pair<std::string, std::string>> facts;  // known facts, as {"toolkit", "13.0.88"}
  ArchSet requested, shared;
  std::vector<InventoryOp> ops;  // the selected ops, sorted by name
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

// The text of plan.json in a build folder: an inventory without the facts that files tell, such as sizes.
std::string render_plan_file(const PlanFileInput& plan);
// Errors: exit 1 `bad_build_file`.
Result<Inventory> parse_plan_file(std::string_view json, const std::string& file);

// Makes the inventory of a bundle's or a build's folder. To list kernels, dsbuild unpacks the images, which
// takes time. Errors: exit 2 `no_bundle_or_build`; `bad_build_file`, `bad_manifest`, `io`, and those of
// read_binary.
enum class Kernels { passed_over, listed };
Result<Inventory> take_inventory(const Path& folder, const FileReader& files, DigestMemo& digests,
                                 Kernels kernels = Kernels::passed_over);

}  // namespace dsbuild
