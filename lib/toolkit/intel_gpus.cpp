#include "toolkit/intel_gpus.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "arch/intel.h"
#include "base/text.h"

namespace dsbuild {
namespace {

const Path k_drm = "/sys/class/drm";
const Path k_render_nodes = "/dev/dri";

// "PCI_ID=8086:56A0" a line.
std::map<std::string, std::string> variables_in(const std::string& text) {
  std::map<std::string, std::string> variables;
  for (const std::string& line : split_lines(text))
    if (const size_t equals = line.find('='); equals != std::string::npos)
      variables[line.substr(0, equals)] = printable(line.substr(equals + 1));
  return variables;
}

std::vector<std::string> names_in(const Path& folder, std::string_view beginning, const FileReader& files) {
  auto names = files.list(folder).value_or(std::vector<std::string>{});
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(beginning) || !whole_number<unsigned>(name.substr(beginning.size()));
  });
  return names;
}

// xe has a folder for each. i915 has one for each unit that works by itself, of which only those of Xe HPC
// are tiles: a processor's media unit is one too.
int tiles_of(const IntelGpu& gpu, const Path& device, const FileReader& files) {
  size_t tiles = 1;
  if (gpu.driver == "xe") {
    tiles = names_in(device, "tile", files).size();
  } else if (gpu.arch && std::string_view(intel_device(*gpu.arch).release).starts_with("xe-hpc")) {
    for (const std::string& card : names_in(device / "drm", "card", files))
      tiles = names_in(device / "drm" / card / "gt", "gt", files).size();
  }
  return std::max(static_cast<int>(tiles), 1);
}

std::optional<IntelGpu> gpu_of(const Path& device, const FileReader& files) {
  constexpr std::string_view k_intel = "8086:", k_place_in_processors = "0000:00:02.0";
  auto variables = variables_in(files.read_file(device / "uevent").value_or(""));
  const std::string pci_id = to_lower(variables["PCI_ID"]);
  if (!pci_id.starts_with(k_intel)) return std::nullopt;
  IntelGpu gpu{
      .name = "Intel " + pci_id, .driver = variables["DRIVER"], .address = variables["PCI_SLOT_NAME"]};
  const auto id = whole_number<uint16_t>(pci_id.substr(k_intel.size()), 16);
  if (const auto product = id ? intel_product_of(*id) : std::nullopt) {
    gpu.arch = product->target;
    gpu.is_integrated = product->is_integrated;
  } else {
    gpu.name += " (unknown)";
    gpu.is_integrated = gpu.address == k_place_in_processors;
  }
  gpu.tiles = tiles_of(gpu, device, files);
  if (!gpu.arch && gpu.driver == "xe") gpu.arch = spir64();
  return gpu;
}

void sort_by_number(std::vector<IntelGpu>& gpus, bool by_address_alone) {
  std::ranges::sort(gpus, {}, [&](const IntelGpu& gpu) {
    return std::tuple(!by_address_alone && gpu.is_integrated, gpu.address);
  });
}

// Whether a GPU of several tiles is one device. A GPU of one tile is one in any case.
bool is_composite(const Settings& settings, const std::vector<IntelGpu>& gpus) {
  const std::string hierarchy = settings.variable("ZE_FLAT_DEVICE_HIERARCHY");
  const bool is_flat = hierarchy == "FLAT" || hierarchy == "COMBINED";
  const bool any_tiles = std::ranges::any_of(gpus, [](const IntelGpu& gpu) { return gpu.tiles > 1; });
  return hierarchy == "COMPOSITE" || (!is_flat && !any_tiles);
}

std::vector<IntelGpu> masked(const std::string& mask, bool composite, const std::vector<IntelGpu>& gpus) {
  std::vector<size_t> devices;  // of which GPU each is
  for (size_t i = 0; i < gpus.size(); ++i)
    devices.insert(devices.end(), composite ? 1 : static_cast<size_t>(gpus[i].tiles), i);
  std::set<size_t> shown;
  for (const std::string& entry : split(mask, ",")) {
    const std::vector<std::string> words = split(trim(entry), ".");
    const auto number = words.empty() ? std::nullopt : whole_number<size_t>(words[0]);
    if (number && *number < devices.size() && (composite || words.size() == 1))
      shown.insert(devices[*number]);
  }
  std::vector<IntelGpu> kept;
  for (const size_t i : shown)
    kept.push_back(gpus[i]);
  return kept;
}

}  // namespace

std::vector<IntelGpu> find_intel_gpus(const FileReader& files) {
  std::vector<IntelGpu> gpus;
  for (const std::string& node : names_in(k_drm, "renderD", files)) {
    const auto gpu = gpu_of(k_drm / node / "device", files);
    if (gpu && files.kind(k_render_nodes / node) != FileKind::absent) gpus.push_back(*gpu);
  }
  sort_by_number(gpus, false);
  return gpus;
}

std::vector<IntelGpu> visible_intel_gpus(const Settings& settings, const FileReader& files) {
  std::vector<IntelGpu> gpus = find_intel_gpus(files);
  if (settings.variable("ZE_ENABLE_PCI_ID_DEVICE_ORDER") == "1") sort_by_number(gpus, true);
  const std::string mask = settings.variable("ZE_AFFINITY_MASK");
  return mask.empty() || mask == "default" ? gpus : masked(mask, is_composite(settings, gpus), gpus);
}

}  // namespace dsbuild
