#include "arch/amd_entry.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

using Fault = std::optional<std::string>;

const AmdProcessor* find_processor(std::string_view name) {
  const auto row = std::ranges::find(amd_processors(), name, &AmdProcessor::name);
  return row == amd_processors().end() ? nullptr : &*row;
}

// Names of GPUs, as far as people write them: lower case, without what stands before ("Instinct", "Radeon
// RX") and without blanks and dashes. Source: the products of LLVM's User Guide for AMDGPU and ROCm's list of
// GPUs.
struct AmdGpuRow {
  std::string_view name;
  const char* processor;
};
constexpr AmdGpuRow k_amd_gpus[] = {
    {"mi25", "gfx900"},      {"vega64", "gfx900"},   {"mi50", "gfx906"},    {"mi60", "gfx906"},
    {"radeonvii", "gfx906"}, {"mi100", "gfx908"},    {"mi200", "gfx90a"},   {"mi210", "gfx90a"},
    {"mi250", "gfx90a"},     {"mi250x", "gfx90a"},   {"mi300", "gfx942"},   {"mi300a", "gfx942"},
    {"mi300x", "gfx942"},    {"mi308x", "gfx942"},   {"mi325x", "gfx942"},  {"mi350x", "gfx950"},
    {"mi355x", "gfx950"},    {"5700xt", "gfx1010"},  {"6800xt", "gfx1030"}, {"6900xt", "gfx1030"},
    {"6950xt", "gfx1030"},   {"w6800", "gfx1030"},   {"6700xt", "gfx1031"}, {"6600xt", "gfx1032"},
    {"7900xt", "gfx1100"},   {"7900xtx", "gfx1100"}, {"w7900", "gfx1100"},  {"7800xt", "gfx1101"},
    {"7700xt", "gfx1101"},   {"7600xt", "gfx1102"},  {"780m", "gfx1103"},   {"890m", "gfx1150"},
    {"8060s", "gfx1151"},    {"9060xt", "gfx1200"},  {"9070", "gfx1201"},   {"9070xt", "gfx1201"},
};

std::string processor_of_gpu(std::string_view lower) {
  std::string word(lower);
  for (const char* mark : {" ", "-", "_"})
    word = replace_all(word, mark, "");
  for (const std::string_view maker : {"amd", "instinct", "radeon", "pro", "rx"})
    if (word.starts_with(maker) && word != "radeonvii") word.erase(0, maker.size());
  const auto* const row = std::ranges::find(k_amd_gpus, word, &AmdGpuRow::name);
  return row == std::end(k_amd_gpus) ? "" : row->processor;
}

std::string nearest_processor(std::string_view word) {
  std::vector<std::string> names;
  for (const AmdProcessor& row : amd_processors())
    names.emplace_back(row.name);
  return nearest(word, names);
}

// "gfx90a:xnack" wants a sign, "gfx90a-xnack+" and "gfx90a+xnack" a colon.
std::string nearest_amd_entry(std::string_view lower) {
  if (const std::string processor = processor_of_gpu(lower); !processor.empty()) return processor;
  const size_t end = std::min(lower.find_first_of(":+"), lower.size());
  const std::string processor = nearest_processor(lower.substr(0, end));
  if (processor.empty()) return nearest_processor(lower);
  const std::string whole = processor + std::string(lower.substr(end));
  return read_amd_id(whole).target ? whole : processor;
}

std::string known_processors() {
  std::vector<std::string> names;
  for (const AmdProcessor& row : amd_processors())
    names.emplace_back(row.name);
  return "known processors of AMD: " + join(names, " ");
}

std::string features_of(const AmdProcessor& processor) {
  const std::string name = processor.name;
  switch (processor.features) {
    case AmdFeatures::sramecc_xnack:
      return name + " may be followed by :sramecc+ or :sramecc-, and :xnack+ or :xnack-";
    case AmdFeatures::xnack:
      return name + " may be followed by :xnack+ or :xnack-";
    case AmdFeatures::none:
    case AmdFeatures::unnamed:
      break;
  }
  return name + " takes no features";
}

// Sets what a part of a target ID says, "xnack+"; false: it says nothing, or the second time.
bool set_feature(std::string_view part, AmdTarget& target) {
  if (part.empty() || (part.back() != '+' && part.back() != '-')) return false;
  const AmdFeatures named = target.processor->features;
  const std::string_view name = part.substr(0, part.size() - 1);
  const bool may_sramecc = named == AmdFeatures::sramecc_xnack;
  const bool may_xnack = may_sramecc || named == AmdFeatures::xnack;
  AmdFeature* const feature = name == "sramecc" && may_sramecc ? &target.sramecc
                              : name == "xnack" && may_xnack   ? &target.xnack
                                                               : nullptr;
  if (!feature || *feature != AmdFeature::any) return false;
  *feature = part.back() == '+' ? AmdFeature::on : AmdFeature::off;
  return true;
}

}  // namespace

AmdId read_amd_id(std::string_view id) {
  const AmdProcessor* processor = find_processor(id.substr(0, id.find(':')));
  if (!processor) return {};
  AmdTarget target{processor};
  for (size_t colon = id.find(':'); colon != id.npos; colon = id.find(':', colon + 1)) {
    const std::string_view rest = id.substr(colon + 1);
    if (!set_feature(rest.substr(0, rest.find(':')), target)) return {std::nullopt, features_of(*processor)};
  }
  return {target, ""};
}

std::optional<Target> amd_gpu_called(std::string_view product) {
  return read_amd_id(processor_of_gpu(product)).target;
}

std::vector<ArchWord> amd_gpu_names() {
  std::vector<ArchWord> names;
  for (const AmdGpuRow& row : k_amd_gpus)
    names.push_back({to_upper(std::string(row.name)), row.processor});
  return names;
}

bool resembles_amd_entry(std::string_view entry) {
  const std::string lower = to_lower(entry);
  return lower.find("gfx") != std::string::npos || lower.find("xnack") != std::string::npos ||
         !processor_of_gpu(lower).empty();
}

Fault add_amd_entry(std::string_view entry, ArchRequest& request) {
  const std::string lower = to_lower(entry);
  const AmdId id = read_amd_id(lower);
  if (id.target) {
    request.targets.insert(*id.target);
    return std::nullopt;
  }
  if (!id.fault.empty()) return id.fault;
  const std::string near = nearest_amd_entry(lower);
  return near.empty() ? known_processors() : "did you mean '" + near + "'? " + known_processors();
}

}  // namespace dsbuild
