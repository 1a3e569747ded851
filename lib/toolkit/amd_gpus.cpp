#include "toolkit/amd_gpus.h"

#include <algorithm>
#include <map>
#include <set>

#include "arch/amd.h"
#include "base/text.h"

namespace dsbuild {
namespace {

const Path k_nodes = "/sys/class/kfd/kfd/topology/nodes";

// "gfx_target_version 90010" a line.
std::map<std::string, uint64_t> properties_in(const std::string& text) {
  std::map<std::string, uint64_t> properties;
  for (const std::string& line : split_lines(text)) {
    const std::vector<std::string> words = split(line, " ");
    if (words.size() != 2) continue;
    if (const auto number = whole_number<uint64_t>(words[1])) properties[words[0]] = *number;
  }
  return properties;
}

// 90010 -> gfx90a: major * 10000 + minor * 100 + stepping, of which names have the last two in hexadecimal.
std::optional<Target> target_of(uint64_t version) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  const uint64_t minor = version / 100 % 100, stepping = version % 100;
  if (minor >= k_digits.size() || stepping >= k_digits.size()) return std::nullopt;
  return amd().parse_name("gfx" + std::to_string(version / 10000) + k_digits[minor] + k_digits[stepping]);
}

std::vector<uint64_t> node_numbers(const FileReader& files) {
  std::vector<uint64_t> numbers;
  const auto names = files.list(k_nodes);
  for (const std::string& name : names ? *names : std::vector<std::string>{})
    if (const auto number = whole_number<uint64_t>(name)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// "GPU-1a2b" names one by its unique_id.
const AmdGpu* named_by(const std::string& word, const std::vector<AmdGpu>& gpus, bool ids_too) {
  if (const auto number = whole_number<uint64_t>(word))
    return *number < gpus.size() ? &gpus[*number] : nullptr;
  constexpr std::string_view k_id = "GPU-";
  const auto id =
      ids_too && word.starts_with(k_id) ? whole_number<uint64_t>(word.substr(k_id.size()), 16) : std::nullopt;
  for (const AmdGpu& gpu : gpus)
    if (id && gpu.id == *id) return &gpu;
  return nullptr;
}

std::vector<AmdGpu> chosen_by(const std::string& list, const std::vector<AmdGpu>& gpus, bool ids_too) {
  std::vector<AmdGpu> chosen;
  std::set<const AmdGpu*> seen;
  for (const std::string& word : split(list, ",")) {
    const AmdGpu* gpu = named_by(trim(word), gpus, ids_too);
    if (!gpu) break;
    if (seen.insert(gpu).second) chosen.push_back(*gpu);
  }
  return chosen;
}

}  // namespace

std::vector<AmdGpu> find_amd_gpus(const FileReader& files) {
  std::vector<AmdGpu> gpus;
  for (const uint64_t number : node_numbers(files)) {
    const Path node = k_nodes / std::to_string(number);
    auto properties = properties_in(files.read_file(node / "properties").value_or(""));
    const auto target = target_of(properties["gfx_target_version"]);
    if (!target) continue;  // a node of processor cores has 0
    gpus.push_back({*target, trim(printable(files.read_file(node / "name").value_or(""))),
                    trim(printable(files.read_file("/sys/module/amdgpu/version").value_or(""))),
                    properties["unique_id"]});
  }
  return gpus;
}

std::vector<AmdGpu> visible_amd_gpus(const Settings& settings, const FileReader& files) {
  std::vector<AmdGpu> gpus = find_amd_gpus(files);
  if (settings.variables.count("ROCR_VISIBLE_DEVICES") > 0)
    gpus = chosen_by(settings.variable("ROCR_VISIBLE_DEVICES"), gpus, true);
  for (const char* name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"})
    if (const std::string list = settings.variable(name); !list.empty()) return chosen_by(list, gpus, false);
  return gpus;
}

}  // namespace dsbuild
