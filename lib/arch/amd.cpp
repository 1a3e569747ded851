#include "arch/amd.h"

#include <algorithm>
#include <map>

#include "arch/amd_entry.h"
#include "base/text.h"

namespace dsbuild {
namespace {

using Code = Vendor::Code;

// The features of a target ID in the order of their texts, "" < ":sramecc+" < ":sramecc+:xnack+" < … <
// ":xnack-", so that the order of codes is that of the IDs' letters: the one in which clang puts images into
// a bundle.
struct Features {
  AmdFeature sramecc, xnack;
  bool operator==(const Features&) const = default;
};
constexpr AmdFeature k_any = AmdFeature::any, k_on = AmdFeature::on, k_off = AmdFeature::off;
constexpr Features k_features[] = {{k_any, k_any}, {k_on, k_any},  {k_on, k_on},
                                   {k_on, k_off},  {k_off, k_any}, {k_off, k_on},
                                   {k_off, k_off}, {k_any, k_on},  {k_any, k_off}};

Code code_of(const AmdTarget& target) {
  const auto index = static_cast<Code>(target.processor - amd_processors().data());
  const auto* const features = std::ranges::find(k_features, Features{target.sramecc, target.xnack});
  return index << 8 | static_cast<Code>(features - std::begin(k_features));
}

AmdTarget target_of(Code code) {
  const auto [sramecc, xnack] = k_features[code & 0xff];
  return {&amd_processors()[code >> 8], sramecc, xnack};
}

bool may_name_sramecc(const AmdProcessor& processor) {
  return processor.features == AmdFeatures::sramecc_xnack;
}

bool may_name_xnack(const AmdProcessor& processor) {
  return may_name_sramecc(processor) || processor.features == AmdFeatures::xnack;
}

bool is_possible(const AmdTarget& target) {
  return (target.sramecc == k_any || may_name_sramecc(*target.processor)) &&
         (target.xnack == k_any || may_name_xnack(*target.processor));
}

std::string feature_text(std::string_view name, AmdFeature feature) {
  return feature == k_any ? "" : ":" + std::string(name) + (feature == k_on ? "+" : "-");
}

bool has(AmdFeature image, AmdFeature gpu) {
  return image == k_any || image == gpu;
}

bool fits_features(const AmdTarget& image, const AmdTarget& gpu) {
  return has(image.sramecc, gpu.sramecc) && has(image.xnack, gpu.xnack);
}

int named_features(const AmdTarget& target) {
  return (target.sramecc != k_any) + (target.xnack != k_any);
}

// Two bits of e_flags.
uint32_t feature_bits(AmdFeature feature, bool has_feature) {
  switch (feature) {
    case AmdFeature::on:
      return 3;
    case AmdFeature::off:
      return 2;
    case AmdFeature::any:
      break;
  }
  return has_feature ? 1 : 0;
}

AmdFeature feature_of(uint32_t bits) {
  return (bits & 3) == 3 ? k_on : (bits & 3) == 2 ? k_off : k_any;
}

// The highest row that is not newer than the compiler: what torch's own wheels for ROCm are built for, as far
// as it knows them, without the GPUs before gfx908 that ROCm itself gave up.
struct ClangDefaultRow {
  int first_clang;  // major * 100 + minor
  const char* list;
};
constexpr ClangDefaultRow k_clang_defaults[] = {
    {2000, "gfx908;gfx90a;gfx942;gfx950;gfx1030;gfx1100;gfx1101;gfx1102;gfx1200;gfx1201"},
    {1800, "gfx908;gfx90a;gfx942;gfx1030;gfx1100;gfx1101;gfx1102;gfx1200;gfx1201"},
    {1700, "gfx908;gfx90a;gfx942;gfx1030;gfx1100;gfx1101;gfx1102"},
    {1500, "gfx906;gfx908;gfx90a;gfx1030;gfx1100;gfx1101;gfx1102"},
    {0, "gfx900;gfx906;gfx908;gfx90a;gfx1030"},
};

// gfx6 has no flat addresses, so clang makes no kernel of HIP for it.
bool takes_hip(const AmdProcessor& processor) {
  return std::string_view(processor.architecture) != "GCN 1";
}

class Amd : public Vendor {
 public:
  std::string_view name() const override { return "amd"; }
  std::string_view backend() const override { return "hip"; }
  std::string_view list_variable() const override { return "PYTORCH_ROCM_ARCH"; }

  std::string name_of(Code code) const override {
    const AmdTarget target = target_of(code);
    return target.processor->name + feature_text("sramecc", target.sramecc) +
           feature_text("xnack", target.xnack);
  }
  std::string text_of(Code code) const override { return name_of(code); }
  std::string flag_of(Code code) const override { return "--offload-arch=" + name_of(code); }
  bool is_virtual(Code) const override { return false; }
  std::string_view image_kind(Code) const override { return "code-object"; }
  Code plain_of(Code code) const override { return code_of({target_of(code).processor}); }
  Code gpu_of(Code code) const override { return code; }

  std::optional<Target> parse_name(std::string_view name) const override { return read_amd_id(name).target; }

  Runs runs(Code image_code, Code gpu_code) const override {
    const AmdTarget image = target_of(image_code), gpu = target_of(gpu_code);
    if (!fits_features(image, gpu)) return Runs::not_at_all;
    if (image.processor == gpu.processor) return Runs::natively;
    return std::string_view(gpu.processor->generic) == image.processor->name ? Runs::by_generic
                                                                             : Runs::not_at_all;
  }
  bool is_nearer(Code a, Code b) const override {
    return named_features(target_of(a)) > named_features(target_of(b));
  }
  bool stands_for(Code pattern, Code other) const override {
    const AmdTarget a = target_of(pattern), b = target_of(other);
    return a.processor == b.processor && fits_features(a, b);
  }

  std::optional<std::string> conflict_in(const ArchSet& own) const override {
    std::map<const AmdProcessor*, Target> first;
    for (const Target& target : own) {
      const AmdTarget b = target_of(target.code);
      const Target& other = first.emplace(b.processor, target).first->second;
      const AmdTarget a = target_of(other.code);
      if ((a.sramecc == k_any) == (b.sramecc == k_any) && (a.xnack == k_any) == (b.xnack == k_any)) continue;
      return "'" + other.text() + "' and '" + target.text() +
             "' cannot be in one library: of one processor either every target names a feature, or none does";
    }
    return std::nullopt;
  }

  std::optional<std::string> add_entry(std::string_view entry, ArchRequest& request) const override {
    return add_amd_entry(entry, request);
  }
  bool resembles(std::string_view entry) const override { return resembles_amd_entry(entry); }

  std::vector<ArchWord> words() const override {
    std::vector<ArchWord> words;
    for (const AmdProcessor& row : amd_processors()) {
      const std::string meaning = row.architecture;
      words.push_back({row.name, row.is_generic() ? "all of " + meaning : meaning});
    }
    return words;
  }

  std::optional<Target> gpu_called(std::string_view product) const override {
    return amd_gpu_called(product);
  }
  std::vector<ArchWord> gpu_names() const override { return amd_gpu_names(); }

  ArchSet known_gpus() const override {
    ArchSet gpus;
    for (const AmdProcessor& row : amd_processors())
      if (!row.is_generic()) gpus.insert(AmdTarget{&row});
    return gpus;
  }
  // all: every processor; all-major: its generic instead, where the toolkit targets that.
  ArchSet all_of(const ArchSet& toolkit, bool major_only) const override {
    ArchSet all;
    for (const Target& target : toolkit) {
      const AmdProcessor& processor = *target_of(target.code).processor;
      if (target != target.plain() || processor.is_generic() || !takes_hip(processor)) continue;
      const std::optional<Target> generic = parse_name(processor.generic);
      all.insert(major_only && generic && toolkit.count(*generic) > 0 ? *generic : target);
    }
    return all;
  }
  ArchSet default_of(int version) const override {
    for (const ClangDefaultRow& row : k_clang_defaults)
      if (version >= row.first_clang) return parse_arch_list(row.list, "default")->targets;
    return {};
  }
  ArchSet native_of(const std::vector<Target>& gpus) const override {
    ArchSet native;
    for (const Target& gpu : gpus)
      native.insert(gpu.plain());
    return native;
  }
  std::string toolkits_for(const ArchSet& own) const override {
    int first = 0, last = k_current_clang;
    for (const Target& target : own) {
      const AmdProcessor& row = *target_of(target.code).processor;
      first = std::max(first, row.first_clang);
      last = std::min(last, row.last_clang);
    }
    if (own.empty() || first > last) return "";
    const std::string from = "clang " + std::to_string(first);
    if (last == k_current_clang) return from + " and newer";
    return first == last ? from : from + " to " + std::to_string(last);
  }
};

}  // namespace

const Vendor& amd() {
  static const Amd vendor;
  return vendor;
}

AmdTarget::operator Target() const {
  return {&amd(), code_of(*this)};
}

AmdTarget amd_target(const Target& target) {
  return target_of(target.code);
}

int amd_wave_size(const Target& target) {
  return target_of(target.code).processor->wave_size;
}

std::optional<Target> amd_target_of(uint32_t elf_flags) {
  const auto row = std::ranges::find(amd_processors(), elf_flags & 0xff, &AmdProcessor::machine);
  if (row == amd_processors().end() || row->is_generic() != (elf_flags >> 24 > 0)) return std::nullopt;
  const AmdTarget target{&*row, feature_of(elf_flags >> 10), feature_of(elf_flags >> 8)};
  return is_possible(target) ? std::optional<Target>(target) : std::nullopt;
}

uint32_t amd_elf_flags(const Target& target) {
  constexpr uint32_t k_generic_version = 1;  // of all that there are
  const auto [processor, sramecc, xnack] = target_of(target.code);
  const bool is_unnamed = processor->features == AmdFeatures::unnamed;
  return processor->machine | feature_bits(xnack, may_name_xnack(*processor) || is_unnamed) << 8 |
         feature_bits(sramecc, may_name_sramecc(*processor) || is_unnamed) << 10 |
         (processor->is_generic() ? k_generic_version << 24 : 0);
}

ArchSet amd_forms(const AmdProcessor& processor) {
  ArchSet forms;
  for (const auto& [sramecc, xnack] : k_features)
    if (const AmdTarget form{&processor, sramecc, xnack}; is_possible(form)) forms.insert(form);
  return forms;
}

ArchSet targets_of_clang(int version) {
  ArchSet targets;
  for (const AmdProcessor& row : amd_processors())
    if (row.first_clang <= version && version <= row.last_clang) targets.merge(amd_forms(row));
  return targets;
}

}  // namespace dsbuild
