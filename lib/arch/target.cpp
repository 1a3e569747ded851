#include "arch/target.h"

#include <algorithm>
#include <iterator>

#include "arch/vendor.h"
#include "base/text.h"

namespace dsbuild {

std::strong_ordering Target::operator<=>(const Target& other) const {
  if (vendor != other.vendor) return vendor->name() <=> other.vendor->name();
  return code <=> other.code;
}

std::string Target::name() const {
  return vendor->name_of(code);
}

std::string Target::text() const {
  return vendor->text_of(code);
}

std::string Target::flag() const {
  return vendor->flag_of(code);
}

bool Target::is_virtual() const {
  return vendor->is_virtual(code);
}

std::string Target::image_kind() const {
  return std::string(vendor->image_kind(code));
}

Target Target::machine() const {
  return {vendor, vendor->machine_of(code)};
}

Target Target::plain() const {
  return {vendor, vendor->plain_of(code)};
}

bool Target::stands_for(const Target& other) const {
  return vendor == other.vendor && vendor->stands_for(code, other.code);
}

Target Target::gpu() const {
  return {vendor, vendor->gpu_of(code)};
}

std::optional<Target> parse_target_name(std::string_view name) {
  for (const Vendor* vendor : vendors())
    if (const auto target = vendor->parse_name(name)) return target;
  return std::nullopt;
}

std::optional<Target> parse_target(std::string_view text) {
  for (const Vendor* vendor : vendors())
    if (const auto target = vendor->parse_text(text)) return target;
  return std::nullopt;
}

ArchSet intersection(const ArchSet& a, const ArchSet& b) {
  ArchSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

ArchSet difference(const ArchSet& a, const ArchSet& b) {
  ArchSet rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

ArchSet union_of(const ArchSet& a, const ArchSet& b) {
  ArchSet all = a;
  all.insert(b.begin(), b.end());
  return all;
}

ArchSet targets_of(const ArchSet& set, const Vendor& vendor) {
  ArchSet own;
  std::copy_if(set.begin(), set.end(), std::inserter(own, own.end()),
               [&](const Target& target) { return target.vendor == &vendor; });
  return own;
}

std::vector<const Vendor*> vendors_of(const ArchSet& set) {
  std::vector<const Vendor*> found;
  for (const Target& target : set)
    if (found.empty() || found.back() != target.vendor) found.push_back(target.vendor);
  return found;
}

std::vector<std::string> arch_strings(const ArchSet& set) {
  std::vector<std::string> texts;
  for (const Vendor* vendor : vendors_of(set))
    for (std::string& text : vendor->texts_of(targets_of(set, *vendor)))
      texts.push_back(std::move(text));
  return texts;
}

std::string arch_text(const ArchSet& set) {
  return set.empty() ? "none" : join(arch_strings(set), " ");
}

std::string arch_list(const ArchSet& set) {
  return join(arch_strings(set), ";");
}

std::string target_names(const ArchSet& set) {
  std::vector<std::string> names;
  for (const Target& target : set)
    names.push_back(target.name());
  return join(names, " ");
}

Runs runs_on(const Target& target, const Target& gpu) {
  return target.vendor == gpu.vendor ? target.vendor->runs(target.code, gpu.code) : Runs::not_at_all;
}

Runs runs_on(const ArchSet& set, const Target& gpu) {
  Runs best = Runs::not_at_all;
  for (const Target& target : set)
    best = std::min(best, runs_on(target, gpu));
  return best;
}

}  // namespace dsbuild
