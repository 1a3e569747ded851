#include "driver/inventory.h"

#include <algorithm>

#include "base/build_layout.h"
#include "bundle/json_cursor.h"
#include "driver/publish.h"

namespace dsbuild {
namespace {

constexpr uint64_t k_schema = 1;
using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const Manifest& manifest) {
  const std::string torch =
      manifest.torch ? manifest.torch->version + ", Python " + manifest.torch->python : "";
  Facts facts = {{"dsbuild", manifest.dsbuild},
                 {"pack", manifest.pack},
                 {"source version", manifest.source_version},
                 {"build string", manifest.build_string},
                 {"toolkit", manifest.toolkit.version},
                 {"host compiler", manifest.toolkit.host_compiler},
                 {"nvcc SHA-256", manifest.toolkit.compiler_sha256},
                 {"HIP's clang", manifest.hip.version},
                 {"clang SHA-256", manifest.hip.compiler_sha256},
                 {"icpx", manifest.sycl.version},
                 {"icpx SHA-256", manifest.sycl.compiler_sha256},
                 {"C++ compiler", manifest.cxx},
                 {"tvm-ffi", manifest.tvm_ffi},
                 {"torch", torch},
                 {"compress mode", manifest.compress_mode},
                 {"NVCC_PREPEND_FLAGS", join(manifest.nvcc_prepend_flags, " ")},
                 {"NVCC_APPEND_FLAGS", join(manifest.nvcc_append_flags, " ")}};
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

// ---- of a build folder

Json dropped_json(const PlannedOp& op) {
  Json list = Json::array();
  for (const PlanDrop& drop : op.dropped)
    list.push_back({{"arch", drop.target.text()}, {"by", word(drop.by)}, {"reason", drop.reason}});
  return list;
}

// Of whole commands; those that slices stand for are kept beside the graph.
std::vector<std::string> flags_of(const PlanFileInput& plan, const std::string& op,
                                  const std::string& source) {
  const auto is_of = [&](const Edge& edge) { return edge.op == op && edge.source == source; };
  for (const SlicedCommand& command : plan.sliced_commands)
    if (is_of(command.whole)) return command.whole.flags;
  for (const Edge& edge : plan.graph.edges)
    if (is_of(edge) && edge.is_compile()) return edge.flags;
  return {};
}

std::vector<std::string> link_flags_of(const PlanFileInput& plan, const std::string& op) {
  for (const Edge& edge : plan.graph.edges) {
    if (edge.kind != EdgeKind::link || edge.op != op) continue;
    std::vector<std::string> flags = edge.flags;
    std::erase_if(flags, [](const auto& flag) { return flag.starts_with("-Wl,--dependency-file="); });
    return flags;
  }
  return {};
}

Json sources_json(const PlanFileInput& plan, const PlannedOp& op) {
  Json list = Json::array();
  for (const PlannedSource& source : op.sources) {
    const auto digest = plan.source_digests.find(source.source.path);
    list.push_back({{"path", source.source.id()},
                    {"sha256", digest == plan.source_digests.end() ? "" : digest->second},
                    {"archs", arch_array(source.archs)},
                    {"flags", flags_of(plan, op.name, source.source.id())}});
  }
  return list;
}

std::vector<std::string> exports_of(const PlanFileInput& plan, const std::string& op) {
  for (const ExpectedOp& expected : plan.graph.expected)
    if (expected.op == op) return expected.exports;
  return {};
}

Json op_json(const PlanFileInput& plan, const PlannedOp& op) {
  const Registry& registry = plan.survey.selected.registry;
  const OpBuilder& builder = *registry.find(op.name);
  const WhenContext when =
      when_context(registry, plan.survey.requirements, toolkit_of(plan.needed.set(), builder.spec()),
                   plan.survey.machine.host.machine, op.archs);
  const bool is_built = op.status == OpStatus::build;
  return {{"name", op.name},
          {"status", word(op.status)},
          {"reason", op.reason},
          {"archs", arch_array(op.archs)},
          {"dropped", dropped_json(op)},
          {"exports", exports_of(plan, op.name)},
          {"needs", is_built ? builder.needs(when) : std::vector<std::string>{}},
          {"features_off", op.features_off},
          {"sources", is_built ? sources_json(plan, op) : Json::array()},
          {"link_flags", link_flags_of(plan, op.name)}};
}

std::vector<PlanDrop> read_dropped(const JsonCursor& list) {
  std::vector<PlanDrop> dropped;
  for (const JsonCursor& drop : list.items()) {
    const auto target = parse_target(drop.at("arch").text());
    const std::string by = drop.at("by").text();
    if (!target) drop.at("arch").refuse("is not an architecture");
    for (const DroppedBy each : {DroppedBy::toolkit, DroppedBy::op, DroppedBy::source})
      if (target && by == word(each)) dropped.push_back({*target, each, drop.at("reason").text()});
  }
  return dropped;
}

InventoryOp read_op(const JsonCursor& json) {
  InventoryOp op{.name = json.at("name").text(),
                 .is_built = json.at("status").text() == word(OpStatus::build),
                 .reason = json.at("reason").text(),
                 .archs = json.at("archs").archs(),
                 .dropped = read_dropped(json.at("dropped")),
                 .exports = json.at("exports").texts(),
                 .needs = json.at("needs").texts(),
                 .features_off = json.at("features_off").texts(),
                 .runtime = {},
                 .sources = {},
                 .link_flags = json.at("link_flags").texts(),
                 .library = {}};
  for (const JsonCursor& source : json.at("sources").items())
    op.sources.push_back({source.at("path").text(), source.at("sha256").text(), source.at("archs").archs(),
                          source.at("flags").texts()});
  return op;
}

Inventory read_plan_file(const JsonCursor& top) {
  if (top.at("schema").number() != k_schema)
    top.at("schema").refuse("is not 1: another version of dsbuild wrote it");
  Inventory inventory;
  inventory.is_build = true;
  for (const JsonCursor& fact : top.at("facts").items())
    inventory.facts.emplace_back(fact.at("name").text(), fact.at("value").text());
  inventory.requested = top.at("requested").archs();
  inventory.shared = top.at("shared").archs();
  for (const JsonCursor& op : top.at("ops").items())
    inventory.ops.push_back(read_op(op));
  return inventory;
}

// ---- of a bundle

// What the library asks of the machine that loads it.
std::vector<std::string> runtime_of(const ManifestOp& op) {
  std::vector<std::string> all;
  if (op.cpu_baseline) all.push_back("CPU " + op.cpu_baseline->level);
  if (!op.runtime) return all;
  all.insert(all.end(), op.runtime->libraries.begin(), op.runtime->libraries.end());
  for (const auto& [name, version] : op.runtime->versions)
    all.push_back(name + " " + version);
  return all;
}

InventoryOp op_of(const ManifestOp& op, const Manifest& manifest) {
  InventoryOp entry{.name = op.planned_as(),
                    .is_built = true,
                    .reason = "",
                    .archs = op.archs,
                    .dropped = {},
                    .exports = op.exports,
                    .needs = op.needs,
                    .features_off = op.features_off,
                    .runtime = runtime_of(op),
                    .sources = {},
                    .link_flags = {},
                    .library = {}};
  for (const ManifestSource& source : op.sources)
    entry.sources.push_back({source.path, source.sha256, source.archs, {}});
  if (!op.archs.empty())
    for (const Target& target : difference(manifest.requested, op.archs))
      entry.dropped.push_back({target, DroppedBy::op, ""});
  return entry;
}

Inventory inventory_of(const Manifest& manifest) {
  Inventory inventory;
  inventory.facts = facts_of(manifest);
  inventory.requested = manifest.requested;
  inventory.shared = manifest.shared;
  for (const ManifestOp& op : manifest.ops)
    inventory.ops.push_back(op_of(op, manifest));
  for (const auto& [op, what] : manifest.failed) {
    InventoryOp failed;
    failed.name = op;
    failed.reason = what;
    inventory.ops.push_back(std::move(failed));
  }
  std::sort(inventory.ops.begin(), inventory.ops.end(),
            [](const InventoryOp& a, const InventoryOp& b) { return a.name < b.name; });
  return inventory;
}

// ---- of both

std::vector<InventoryImages> images_of(const BinaryFile& content) {
  std::map<Target, InventoryImages> by_target;
  for (const DeviceImage& image : content.images) {
    InventoryImages& images =
        by_target.try_emplace(image.target, InventoryImages{image.target, 0, 0}).first->second;
    ++images.count;
    images.bytes += image.bytes;
  }
  std::vector<InventoryImages> all;
  for (const auto& [target, images] : by_target)
    all.push_back(images);
  return all;
}

Result<InventoryLibrary> look_into(const Path& library, const FileReader& files, DigestMemo& digests,
                                   Kernels kernels, std::vector<Warning>& warnings) {
  InventoryLibrary found;
  DSBUILD_TRY(bytes, files.read_file(library));
  DSBUILD_TRY(content, read_binary(as_bytes_of(bytes), library.string()));
  keep_loadable(content);
  DSBUILD_TRY(digest, digests.digest(library));
  found.bytes = bytes.size();
  found.sha256 = digest;
  found.images = images_of(content);
  found.modules = modules_of(content);
  if (kernels == Kernels::passed_over) return found;
  if (auto all = read_kernels(MemoryBytes(as_bytes_of(bytes)), library.string()))
    found.kernels = std::move(*all);
  else
    warnings.push_back({all.error()});
  return found;
}

// Not of ops that were not built, as where the build failed.
Result<void> look_into_libraries(Inventory& inventory, const Path& folder, const FileReader& files,
                                 DigestMemo& digests, Kernels kernels) {
  for (InventoryOp& op : inventory.ops) {
    const Path library = folder / (op.name + ".so");
    if (!op.is_built || files.kind(library) != FileKind::file) continue;
    DSBUILD_TRY(found, look_into(library, files, digests, kernels, inventory.warnings));
    op.library = std::move(found);
  }
  return {};
}

Result<Inventory> read_build_folder(const Path& folder, const FileReader& files, DigestMemo& digests,
                                    Kernels kernels) {
  const Path file = folder / k_plan_file;
  DSBUILD_TRY(text, files.read_file(file));
  DSBUILD_TRY(inventory, parse_plan_file(text, file.string()));
  DSBUILD_TRY(timings, load_timings(folder, files));
  inventory.timings = std::move(timings);
  DSBUILD_CHECK(look_into_libraries(inventory, folder / k_libraries_folder, files, digests, kernels));
  return inventory;
}

Result<Inventory> read_bundle(const Path& folder, const FileReader& files, DigestMemo& digests,
                              Kernels kernels) {
  DSBUILD_TRY(manifest, load_manifest(folder, files));
  Inventory inventory = inventory_of(manifest);
  DSBUILD_CHECK(look_into_libraries(inventory, folder, files, digests, kernels));
  return inventory;
}

}  // namespace

uint64_t InventoryLibrary::host_bytes() const {
  uint64_t device = 0;
  for (const InventoryImages& each : images)
    device += each.bytes;
  return bytes - std::min(bytes, device);
}

const InventoryOp* Inventory::find(const std::string& op) const {
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const InventoryOp& each) { return each.name == op; });
  return found == ops.end() ? nullptr : &*found;
}

std::string render_plan_file(const PlanFileInput& plan) {
  const Manifest manifest = planned_manifest(plan.survey, plan.needed, plan.archs);
  Json json = {{"schema", k_schema}, {"facts", Json::array()}};
  for (const auto& [name, value] : facts_of(manifest))
    json["facts"].push_back({{"name", name}, {"value", value}});
  json["requested"] = arch_array(manifest.requested);
  json["shared"] = arch_array(manifest.shared);
  json["ops"] = Json::array();
  for (const PlannedOp& op : plan.archs.ops)
    if (op.status != OpStatus::off) json["ops"].push_back(op_json(plan, op));
  return json_text(json);
}

Result<Inventory> parse_plan_file(std::string_view json, const std::string& file) {
  return read_json<Inventory>(json, "bad_build_file", file, read_plan_file);
}

Result<Inventory> take_inventory(const Path& folder, const FileReader& files, DigestMemo& digests,
                                 Kernels kernels) {
  const bool is_build = files.kind(folder / k_build_folder_marker) == FileKind::file &&
                        files.kind(folder / k_plan_file) == FileKind::file;
  if (!is_build && files.kind(folder / k_manifest_name) != FileKind::file)
    return fail(Exit::usage, "no_bundle_or_build", folder.string(),
                files.kind(folder) == FileKind::absent
                    ? "there is no such folder"
                    : "there is neither a bundle's manifest.json nor a build folder's plan.json in it",
                "Give the folder of a bundle (--out of a build) or of a build (its --build-dir).");
  auto inventory = is_build ? read_build_folder(folder, files, digests, kernels)
                            : read_bundle(folder, files, digests, kernels);
  if (inventory) inventory->path = folder.string();
  return inventory;
}

}  // namespace dsbuild
