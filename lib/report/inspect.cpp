#include "report/json.h"
#include "report/table.h"

namespace dsbuild {
namespace {

Json images_json(const BinaryFile& file) {
  Json list = Json::array();
  for (const DeviceImage& image : file.images)
    list.push_back({{"kind", image.target.image_kind()},
                    {"arch", image.target.name()},
                    {"bytes", image.bytes},
                    {"compressed", image.compressed}});
  return list;
}

// Of a library whose modules differ, the one that decides.
std::string module_text(const InspectedFile& file, const Coverage& coverage) {
  const std::vector<ArchSet> modules = modules_of(file.content);
  const bool all_alike =
      std::adjacent_find(modules.begin(), modules.end(), std::not_equal_to<>()) == modules.end();
  if (all_alike) return "";
  return ", module " + std::to_string(coverage.module + 1) + " of " + std::to_string(modules.size()) +
         " has " + arch_text(modules[coverage.module]);
}

Json tile_images_json(const BinaryFile& file) {
  Json list = Json::array();
  for (const DeviceImage& image : file.tile_images)
    list.push_back({{"arch", image.target.name()}, {"bytes", image.bytes}, {"compressed", image.compressed}});
  return list;
}

uint64_t stored_bytes(const std::vector<DeviceImage>& images) {
  uint64_t bytes = 0;
  for (const DeviceImage& image : images)
    bytes += image.bytes;
  return bytes;
}

}  // namespace

ArchSet archs_of(const BinaryFile& file) {
  ArchSet set;
  for (const DeviceImage& image : file.images)
    set.insert(image.target);
  return set;
}

std::vector<ArchSet> modules_of(const BinaryFile& file) {
  std::vector<ArchSet> modules;
  for (const FatbinContainer& container : file.containers) {
    modules.emplace_back();
    for (const DeviceImage& image : container.images)
      modules.back().insert(image.target);
  }
  return modules;
}

std::string render_inspect(const std::vector<InspectedFile>& files) {
  std::vector<TableRow> rows = {{"file", "archs", "images", "device bytes"}};
  for (const InspectedFile& file : files) {
    rows.push_back({file.name, arch_text(archs_of(file.content)), std::to_string(file.content.images.size()),
                    human_size(stored_bytes(file.content.images))});
    for (const Coverage& coverage : file.coverage)
      rows.push_back({"",
                      "  GPU " + coverage.gpu.text() + ": " + coverage.text() + module_text(file, coverage),
                      "", ""});
    for (const auto& [target, count] : count_images(file.content.images))
      rows.push_back({"", "  " + target.name(), std::to_string(count), ""});
    for (const auto& [target, count] : count_images(file.content.tile_images))
      rows.push_back({"", "  Tile IR for " + target.name(), std::to_string(count), ""});
  }
  return join(render_table(rows), "\n") + "\n";
}

std::string render_inspect_json(const std::vector<InspectedFile>& files) {
  Json json = json_document();
  json["files"] = Json::array();
  for (const InspectedFile& file : files)
    json["files"].push_back({{"file", file.name},
                             {"archs", arch_strings(archs_of(file.content))},
                             {"images", images_json(file.content)},
                             {"tile_images", tile_images_json(file.content)},
                             {"coverage", coverage_json(file.coverage)}});
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string render_comparison(size_t files) {
  return "compared " + plural(files, "file") + (files > 0 ? ": the same as nvcc's\n" : ": none is sliced\n");
}

std::string render_differences(const std::vector<Difference>& differences, const std::string& bundle,
                               std::optional<size_t> compared, const Style& style) {
  if (differences.empty())
    return style.good("ok") + "  " + bundle + " holds what its manifest says\n" +
           (compared ? render_comparison(*compared) : "");
  std::string text;
  for (const Difference& difference : differences)
    text += style.bad("differs: ") + difference.what + "\n";
  return text + bundle + ": " + plural(differences.size(), "difference") + "\n";
}

std::string render_differences_json(const std::vector<Difference>& differences, const std::string& bundle,
                                    std::optional<size_t> compared, const std::vector<Warning>& warnings) {
  Json json = json_document();
  json["bundle"] = bundle;
  if (compared) json["compared"] = *compared;
  json["ok"] = differences.empty();
  json["differences"] = Json::array();
  for (const Difference& difference : differences)
    json["differences"].push_back(
        {{"op", difference.op}, {"file", difference.file}, {"what", difference.what}});
  json["warnings"] = warnings_json(warnings);
  return json_line(json);
}

}  // namespace dsbuild
