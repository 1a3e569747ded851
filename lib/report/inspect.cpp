#include <algorithm>

#include "base/demangle.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

// What is stored for an arch in all modules of a file.
struct ArchTotal {
  size_t modules = 0;
  size_t images = 0;
  uint64_t bytes = 0;
};

std::map<Target, ArchTotal> totals_of(const std::vector<DeviceImage>& images,
                                      const std::vector<ArchSet>& modules) {
  std::map<Target, ArchTotal> totals;
  for (const DeviceImage& image : images) {
    ArchTotal& total = totals[image.target];
    ++total.images;
    total.bytes += image.bytes;
  }
  for (auto& [target, total] : totals)
    for (const ArchSet& module : modules)
      total.modules += module.contains(target) ? 1 : 0;
  return totals;
}

uint64_t stored_bytes(const std::vector<DeviceImage>& images) {
  uint64_t bytes = 0;
  for (const DeviceImage& image : images)
    bytes += image.bytes;
  return bytes;
}

// Of the containers that can be loaded, or of those that are inputs of a device link.
std::vector<DeviceImage> images_of(const DeviceCode& code, bool relocatable) {
  std::vector<DeviceImage> images;
  for (const DeviceContainer& container : code.containers)
    if (container.is_relocatable == relocatable)
      std::ranges::copy(container.images, std::back_inserter(images));
  return images;
}

ArchSet loadable_archs(const DeviceCode& code) {
  ArchSet archs;
  for (const DeviceImage& image : images_of(code, false))
    archs.insert(image.target);
  return archs;
}

// Those with code that can be loaded: others are host code alone, relocatable, code for link-time
// optimisation, or what is left of a device link.
std::vector<ArchSet> modules_with_images(const DeviceCode& code) {
  std::vector<ArchSet> modules = modules_of(code);
  std::erase_if(modules, [](const ArchSet& module) { return module.empty(); });
  return modules;
}

// "native (sm_80)", "by generic (gfx9-4-generic)"; where modules are run in several ways, how many in which:
// "native: 443 modules by sm_86, 1 by sm_89", and of those that are not run the first: "will not run: 1
// module by sm_80, 1 not at all: module 2 has 9.0".
std::string verdict_text(const std::vector<ArchSet>& modules, const Target& gpu) {
  const Coverage worst = coverage_of_modules(modules, gpu);
  const std::vector<ModuleCount> counts = count_modules(modules, gpu);
  if (counts.size() < 2) return worst.text();
  // "by PTX (compute_80)": what stands in front of the image is said of all of them.
  const std::string word = worst.text().substr(0, worst.text().find(" ("));
  std::string text = word + ": " + text_of(counts);
  if (worst.runs == Runs::not_at_all)
    text += ": module " + std::to_string(worst.module + 1) + " has " + arch_text(modules[worst.module]);
  return text;
}

void add_rows(const InspectedFile& file, std::vector<TableRow>& rows) {
  const std::vector<ArchSet> modules = modules_with_images(file.content);
  const std::vector<DeviceImage> loadable = images_of(file.content, false);
  rows.push_back({file.name, arch_text(loadable_archs(file.content)), std::to_string(modules.size()),
                  std::to_string(loadable.size()), human_size(stored_bytes(loadable))});
  const auto add_totals = [&](const std::string& beginning, const std::vector<DeviceImage>& images) {
    for (const auto& [target, total] : totals_of(images, modules))
      rows.push_back({"", "  " + beginning + target.name(),
                      beginning.empty() ? std::to_string(total.modules) : "", std::to_string(total.images),
                      human_size(total.bytes)});
  };
  add_totals("", loadable);
  add_totals("relocatable ", images_of(file.content, true));
  add_totals("Tile IR for ", file.content.tile_images);
}

void add_verdicts(const InspectedFile& file, std::vector<TableRow>& rows) {
  const std::vector<ArchSet> modules = modules_with_images(file.content);
  for (const Target& gpu : file.gpus)
    if (!modules.empty()) rows.push_back({file.name, "GPU " + gpu.text(), verdict_text(modules, gpu)});
}

// What the names of several files have in common, up to a slash.
std::string common_folder(const std::vector<InspectedFile>& files) {
  if (files.size() < 2) return "";
  std::string common = files.front().name;
  for (const InspectedFile& file : files) {
    const auto [end, _] = std::ranges::mismatch(common, file.name);
    common.erase(end, common.end());
  }
  return common.substr(0, common.rfind('/') + 1);
}

// A column for each arch, then the kernel's name, which may be long.
std::string kernel_lines(const InspectedFile& file, const Style& style) {
  std::map<Target, uint64_t> totals;
  for (const auto& [name, row] : file.kernels->rows())
    for (const auto& [target, bytes] : row.bytes_by_arch)
      totals[target] += bytes;
  if (totals.empty()) return "";
  TableRow head, last;
  for (const auto& [target, bytes] : totals) {
    head.push_back(target.name());
    last.push_back(human_size(bytes));
  }
  head.push_back("kernel of " + file.name);
  last.push_back("in all, " + plural(file.kernels->rows().size(), "kernel"));
  std::vector<TableRow> rows;
  for (const auto& [name, row] : file.kernels->largest_first()) {
    rows.emplace_back();
    for (const auto& [target, bytes] : totals) {
      const auto found = row.bytes_by_arch.find(target);
      rows.back().push_back(found == row.bytes_by_arch.end() ? "" : human_size(found->second));
    }
    rows.back().push_back(demangled(name) + (row.is_entry ? "" : " (__device__)"));
  }
  rows.push_back(last);
  return "\n" + render_table({head, rows}, style);
}

Json image_json(const DeviceImage& image, size_t module) {
  return {{"kind", image.target.image_kind()},
          {"arch", image.target.name()},
          {"bytes", image.bytes},
          {"compressed", image.compressed},
          {"module", module}};
}

Json images_json(const DeviceCode& code, bool relocatable) {
  Json list = Json::array();
  for (size_t module = 0; module < code.containers.size(); ++module)
    for (const DeviceImage& image : code.containers[module].images)
      if (code.containers[module].is_relocatable == relocatable) list.push_back(image_json(image, module));
  return list;
}

Json tile_images_json(const DeviceCode& code) {
  Json list = Json::array();
  for (const DeviceImage& image : code.tile_images)
    list.push_back({{"arch", image.target.name()}, {"bytes", image.bytes}, {"compressed", image.compressed}});
  return list;
}

Json sizes_json(const DeviceCode& code, const std::vector<ArchSet>& modules) {
  Json list = Json::array();
  for (const auto& [target, total] : totals_of(images_of(code, false), modules))
    list.push_back({{"arch", target.name()},
                    {"modules", total.modules},
                    {"images", total.images},
                    {"bytes", total.bytes}});
  return list;
}

Json verdicts_json(const InspectedFile& file) {
  const std::vector<ArchSet> modules = modules_of(file.content);
  Json list = Json::array();
  if (images_of(file.content, false).empty()) return list;
  for (const Target& gpu : file.gpus) {
    Json verdict = coverage_json(coverage_of_modules(modules, gpu));
    Json counts = Json::array();
    for (const ModuleCount& count : count_modules(modules, gpu))
      counts.push_back({{"runs", runs_word(count.runs, count.by)},
                        {"by", count.by ? Json(count.by->name()) : Json(nullptr)},
                        {"count", count.modules}});
    verdict.add("modules", std::move(counts));
    list.push_back(std::move(verdict));
  }
  return list;
}

Json kernels_json(const KernelTable& kernels) {
  Json list = Json::array();
  for (const auto& [name, row] : kernels.largest_first()) {
    Json sizes = Json::object();
    for (const auto& [target, bytes] : row.bytes_by_arch)
      sizes[target.name()] = bytes;
    list.push_back({{"name", name}, {"text", demangled(name)}, {"entry", row.is_entry}, {"bytes", sizes}});
  }
  return list;
}

Json file_json(const InspectedFile& file) {
  const std::vector<ArchSet> modules = modules_with_images(file.content);
  Json json = {{"file", file.name},
               {"archs", arch_strings(loadable_archs(file.content))},
               {"modules", modules.size()},
               {"sizes", sizes_json(file.content, modules)},
               {"images", images_json(file.content, false)},
               {"relocatable_images", images_json(file.content, true)},
               {"tile_images", tile_images_json(file.content)},
               {"coverage", verdicts_json(file)}};
  if (file.kernels) json["kernels"] = kernels_json(*file.kernels);
  return json;
}

}  // namespace

uint64_t KernelTable::Row::bytes() const {
  uint64_t sum = 0;
  for (const auto& [target, bytes] : bytes_by_arch)
    sum += bytes;
  return sum;
}

void KernelTable::add(const ImageKernels& image) {
  for (const Kernel& kernel : image.kernels) {
    Row& row = rows_[kernel.name];
    row.is_entry |= kernel.is_entry;
    row.bytes_by_arch[image.image.target] += kernel.bytes;
  }
}

std::vector<std::pair<std::string, KernelTable::Row>> KernelTable::largest_first() const {
  std::vector<std::pair<std::string, Row>> rows(rows_.begin(), rows_.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second.bytes(); });
  return rows;
}

Gated gated(const std::vector<InspectedFile>& files) {
  Gated gated{files.size() == 1 ? files.front().name : plural(files.size(), "file"), "file", {}};
  for (const InspectedFile& file : files) {
    const std::string base = Path(file.name).filename().string();
    gated.libraries.push_back(
        {file.name, base.substr(0, base.find('.')), file.bytes, modules_with_images(file.content)});
  }
  return gated;
}

std::string render_inspect(std::vector<InspectedFile> files, const Style& style) {
  // Names in a wheel are long, and all begin alike.
  const std::string folder = common_folder(files);
  for (InspectedFile& file : files)
    file.name = file.name.substr(folder.size());
  Table table{{"file", "archs", "modules", "images", "device bytes"}, {}}, verdicts;
  std::string kernels;
  for (const InspectedFile& file : files) {
    add_rows(file, table.rows);
    add_verdicts(file, verdicts.rows);
    if (file.kernels) kernels += kernel_lines(file, style);
  }
  std::string text = folder.empty() ? "" : "in " + folder + "\n";
  text += render_table(table, style);
  if (!verdicts.rows.empty()) text += "\n" + render_table(verdicts, style);
  return text + kernels;
}

std::string render_inspect_json(const std::vector<InspectedFile>& files, const std::vector<Warning>& warnings,
                                const std::optional<Verdict>& gate) {
  Json json = json_document();
  json["files"] = Json::array();
  for (const InspectedFile& file : files)
    json["files"].push_back(file_json(file));
  if (gate) json["gate"] = gate_json(*gate);
  json["warnings"] = warnings_json(warnings);
  return json_line(json);
}

}  // namespace dsbuild
