#include "arch/intel.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace dsbuild {
namespace {

using Code = Vendor::Code;

constexpr uint16_t k_gen8 = 11, k_gen9 = 12, k_gen11 = 15, k_gen12 = 18, k_xe_hpg = 0xc07, k_xe_hpc = 0xc08,
                   k_xe2 = 0xc09, k_xe3 = 0xc0a;

// Other devices that run code for a device as it is.
struct CompatibleRow {
  std::string_view device;
  std::vector<std::string_view> others;
};
const std::vector<CompatibleRow>& compatible_rows() {
  static const std::vector<CompatibleRow> rows = {{"dg2-g10", {"dg2-g11", "dg2-g12"}},
                                                  {"mtl-u", {"mtl-h"}},
                                                  {"bmg-g21", {"bmg-g31", "lnl-m"}},
                                                  {"ptl-h", {"ptl-u", "wcl"}}};
  return rows;
}

// Words for several: a release by another name, and whole families.
struct FamilyRow {
  std::string_view word;
  std::vector<std::string_view> releases;
};
const std::vector<FamilyRow>& family_rows() {
  static const std::vector<FamilyRow> rows = {
      {"xe-lp", {"gen12lp"}},
      {"xe", {"xe-hpg", "xe-hpc", "xe-hpc-vg", "xe-lpg", "xe-lpgplus"}},
      {"xe2", {"xe2-hpg", "xe2-lpg"}},
      {"xe3", {"xe3-lpg"}},
  };
  return rows;
}

constexpr Code k_spir64 = UINT32_MAX;  // behind every device

const IntelDevice& device_of(Code code) {
  return *std::ranges::find(intel_devices(), code,
                            [](const IntelDevice& row) { return row.version.number(); });
}

bool is_named(const IntelDevice& device, std::string_view name) {
  return name == device.name || std::ranges::find(device.others, name) != device.others.end();
}

bool has_word(const std::vector<std::string_view>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// "12.60.7" -> its numbers.
std::optional<IntelVersion> parse_ip_version(std::string_view text) {
  int numbers[3];
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int& number : numbers) {
    if (&number != numbers && (at == end || *at++ != '.')) return std::nullopt;
    const auto [rest, fault] = std::from_chars(at, end, number);
    if (fault != std::errc() || number < 0) return std::nullopt;
    at = rest;
  }
  if (at != end) return std::nullopt;
  return IntelVersion{numbers[0], numbers[1], numbers[2]};
}

// As icpx spells it, "intel_gpu_dg2_g10", or ocloc.
std::string plain_word(std::string_view entry) {
  std::string word = to_lower(entry);
  constexpr std::string_view k_prefix = "intel_gpu_";
  const bool is_icpx = word.starts_with(k_prefix);
  if (!is_icpx) return word;
  word.erase(0, k_prefix.size());
  const bool is_version = !word.empty() && word.find_first_not_of("0123456789_") == word.npos;
  return replace_all(word, "_", is_version ? "." : "-");
}

ArchSet devices_of_word(std::string_view word) {
  const auto family = std::ranges::find(family_rows(), word, &FamilyRow::word);
  ArchSet devices;
  for (const IntelDevice& device : intel_devices())
    if (word == device.release ||
        (family != family_rows().end() && has_word(family->releases, device.release)))
      devices.insert(intel_target(device));
  return devices;
}

std::vector<std::string> all_words() {
  std::vector<std::string> words{"spir64"};
  for (const IntelDevice& device : intel_devices()) {
    words.emplace_back(device.name);
    words.insert(words.end(), device.others.begin(), device.others.end());
    if (std::ranges::find(words, std::string(device.release)) == words.end())
      words.emplace_back(device.release);
  }
  for (const FamilyRow& row : family_rows())
    words.emplace_back(row.word);
  return words;
}

class Intel : public Vendor {
 public:
  std::string_view name() const override { return "intel"; }
  std::string_view backend() const override { return "sycl"; }
  std::string_view list_variable() const override { return "TORCH_XPU_ARCH_LIST"; }

  std::string name_of(Code code) const override { return is_virtual(code) ? "spir64" : device_of(code).name; }
  std::string text_of(Code code) const override { return name_of(code); }
  std::string flag_of(Code code) const override {
    return is_virtual(code) ? "-fsycl-targets=spir64"
                            : "-fsycl-targets=intel_gpu_" + replace_all(name_of(code), "-", "_");
  }
  bool is_virtual(Code code) const override { return code == k_spir64; }
  std::string_view image_kind(Code code) const override {
    return is_virtual(code) ? "spirv" : "device-binary";
  }
  Code plain_of(Code code) const override { return code; }

  std::optional<Target> parse_name(std::string_view name) const override {
    if (name == "spir64") return spir64();
    const auto device =
        std::ranges::find_if(intel_devices(), [&](const IntelDevice& each) { return is_named(each, name); });
    return device == intel_devices().end() ? std::nullopt : std::optional(intel_target(*device));
  }

  Runs runs(Code image, Code gpu) const override {
    if (is_virtual(image)) return Runs::by_driver;
    if (image == gpu) return Runs::natively;
    if (is_virtual(gpu)) return Runs::not_at_all;
    const auto row = std::ranges::find(compatible_rows(), device_of(image).name, &CompatibleRow::device);
    const bool fits = row != compatible_rows().end() && has_word(row->others, device_of(gpu).name);
    return fits ? Runs::natively : Runs::not_at_all;
  }
  // All that run on a GPU are older than it.
  bool is_nearer(Code a, Code b) const override { return a > b; }

  std::optional<std::string> add_entry(std::string_view entry, ArchRequest& request) const override {
    const std::string word = plain_word(entry);
    if (const auto target = parse_name(word)) {
      request.targets.insert(*target);
    } else if (const auto version = parse_ip_version(word); version && intel_target_of(*version)) {
      request.targets.insert(*intel_target_of(*version));
    } else if (const ArchSet several = devices_of_word(word); !several.empty()) {
      request.targets.insert(several.begin(), several.end());
    } else {
      const std::string near = nearest(word, all_words());
      const std::string known = "known GPUs of Intel: " + join(all_words(), " ");
      return near.empty() ? known : "did you mean '" + near + "'? " + known;
    }
    return std::nullopt;
  }

  // Two letters of one word are near to any other.
  bool resembles(std::string_view entry) const override {
    const std::string lower = to_lower(entry), word = plain_word(entry);
    return word != lower || lower.starts_with("spir") || lower.starts_with("xe") ||
           (word.size() > 3 && word.find_first_not_of("0123456789.") != word.npos &&
            !nearest(word, all_words()).empty());
  }

  std::vector<ArchWord> words() const override {
    std::vector<ArchWord> words{{"spir64", "SPIR-V, for all GPUs of Intel"}};
    for (const IntelDevice& device : intel_devices())
      words.push_back({device.name, "Intel " + device.version.text() + ", " + device.release});
    return words;
  }

  ArchSet known_gpus() const override {
    ArchSet gpus;
    for (const IntelDevice& device : intel_devices())
      gpus.insert(intel_target(device));
    return gpus;
  }
  // Every device and SPIR-V; all-major: the first device of each release.
  ArchSet all_of(const ArchSet& toolkit, bool major_only) const override {
    ArchSet all;
    std::string_view release;
    for (const Target& target : toolkit) {
      const bool is_first = target.is_virtual() || release != device_of(target.code).release;
      if (!target.is_virtual()) release = device_of(target.code).release;
      if (is_first || !major_only) all.insert(target);
    }
    return all;
  }
  // What icpx makes where nothing is named: it runs everywhere.
  ArchSet default_of(int) const override { return {spir64()}; }
  ArchSet native_of(const std::vector<Target>& gpus) const override {
    ArchSet native(gpus.begin(), gpus.end());
    if (!native.empty()) native.insert(spir64());
    return native;
  }
  std::string toolkits_for(const ArchSet&) const override { return ""; }
};

}  // namespace

const Vendor& intel() {
  static const Intel vendor;
  return vendor;
}

std::string IntelVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(revision);
}

uint32_t IntelVersion::number() const {
  return static_cast<uint32_t>(major) << 22 | static_cast<uint32_t>(minor) << 14 |
         static_cast<uint32_t>(revision);
}

IntelVersion IntelVersion::of(uint32_t number) {
  return {static_cast<int>(number >> 22), static_cast<int>(number >> 14 & 0xff),
          static_cast<int>(number & 0x3fff)};
}

const std::vector<IntelDevice>& intel_devices() {
  static const std::vector<IntelDevice> devices = {
      {"bdw", {8, 0, 0}, k_gen8, "gen8", {}},
      {"skl", {9, 0, 9}, k_gen9, "gen9", {}},
      {"kbl", {9, 1, 9}, k_gen9, "gen9", {}},
      {"cfl", {9, 2, 9}, k_gen9, "gen9", {}},
      {"apl", {9, 3, 0}, k_gen9, "gen9", {"bxt"}},
      {"glk", {9, 4, 0}, k_gen9, "gen9", {}},
      {"whl", {9, 5, 0}, k_gen9, "gen9", {}},
      {"aml", {9, 6, 0}, k_gen9, "gen9", {}},
      {"cml", {9, 7, 0}, k_gen9, "gen9", {}},
      {"icllp", {11, 0, 0}, k_gen11, "gen11", {"icl"}},
      {"lkf", {11, 1, 0}, k_gen11, "gen11", {}},
      {"ehl", {11, 2, 0}, k_gen11, "gen11", {"jsl"}},
      {"tgllp", {12, 0, 0}, k_gen12, "gen12lp", {"tgl"}},
      {"rkl", {12, 1, 0}, k_gen12, "gen12lp", {}},
      {"adl-s", {12, 2, 0}, k_gen12, "gen12lp", {"rpl-s"}},
      {"adl-p", {12, 3, 0}, k_gen12, "gen12lp", {"rpl-p"}},
      {"adl-n", {12, 4, 0}, k_gen12, "gen12lp", {}},
      {"dg1", {12, 10, 0}, k_gen12, "gen12lp", {}},
      {"dg2-g10", {12, 55, 8}, k_xe_hpg, "xe-hpg", {"acm-g10", "ats-m150"}},
      {"dg2-g11", {12, 56, 5}, k_xe_hpg, "xe-hpg", {"acm-g11", "ats-m75"}},
      {"dg2-g12", {12, 57, 0}, k_xe_hpg, "xe-hpg", {"acm-g12"}},
      {"pvc-sdv", {12, 60, 1}, k_xe_hpc, "xe-hpc", {}},
      {"pvc", {12, 60, 7}, k_xe_hpc, "xe-hpc", {}},
      {"pvc-vg", {12, 61, 7}, k_xe_hpc, "xe-hpc-vg", {}},
      {"mtl-u", {12, 70, 4}, k_xe_hpg, "xe-lpg", {"mtl-s", "mtl-m", "arl-u", "arl-s"}},
      {"mtl-h", {12, 71, 4}, k_xe_hpg, "xe-lpg", {"mtl-p"}},
      {"arl-h", {12, 74, 4}, k_xe_hpg, "xe-lpgplus", {}},
      {"bmg-g21", {20, 1, 0}, k_xe2, "xe2-hpg", {}},
      {"bmg-g31", {20, 2, 0}, k_xe2, "xe2-hpg", {}},
      {"lnl-m", {20, 4, 4}, k_xe2, "xe2-lpg", {}},
      {"ptl-h", {30, 0, 4}, k_xe3, "xe3-lpg", {}},
      {"ptl-u", {30, 1, 0}, k_xe3, "xe3-lpg", {}},
      {"wcl", {30, 3, 0}, k_xe3, "xe3-lpg", {}},
  };
  return devices;
}

Target spir64() {
  return {&intel(), k_spir64};
}

Target intel_target(const IntelDevice& device) {
  return {&intel(), device.version.number()};
}

const IntelDevice& intel_device(const Target& target) {
  return device_of(target.code);
}

std::optional<Target> intel_target_of(const IntelVersion& version) {
  const auto device = std::ranges::find(intel_devices(), version, &IntelDevice::version);
  return device == intel_devices().end() ? std::nullopt : std::optional(intel_target(*device));
}

std::optional<Target> intel_target_of_member(std::string_view name) {
  if (!name.starts_with("64.") && !name.starts_with("32.")) return std::nullopt;
  const auto version = parse_ip_version(name.substr(3));
  return version ? intel_target_of(*version) : std::nullopt;
}

ArchSet intel_targets_of_core(uint32_t core, uint32_t stepping) {
  ArchSet targets;
  for (const IntelDevice& device : intel_devices())
    if (device.core == core && static_cast<uint32_t>(device.version.revision) == stepping)
      targets.insert(intel_target(device));
  return targets;
}

}  // namespace dsbuild
