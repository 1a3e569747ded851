// A vendor that does not exist: what knows targets only by their vendors works for it as for any other.
#pragma once

#include "arch/vendor.h"

namespace dsbuild {

// Its targets are gx1, gx2, …; a GPU runs its own and no other, and there is nothing that a driver compiles.
class MadeUpVendor : public Vendor {
 public:
  std::string_view name() const override { return "made up"; }
  std::string_view backend() const override { return "gx"; }
  std::string_view list_variable() const override { return "GX_LIST"; }
  Target target(Code number) const { return {this, number}; }

  std::string name_of(Code code) const override { return "gx" + std::to_string(code); }
  std::string text_of(Code code) const override { return name_of(code); }
  std::string flag_of(Code code) const override { return "--for=" + name_of(code); }
  bool is_virtual(Code) const override { return false; }
  std::string_view image_kind(Code) const override { return "elf"; }
  Code plain_of(Code code) const override { return code; }
  std::optional<Target> parse_name(std::string_view name) const override {
    for (const Target& known : known_gpus())
      if (name == known.name()) return known;
    return std::nullopt;
  }
  Runs runs(Code image, Code gpu) const override { return image == gpu ? Runs::natively : Runs::not_at_all; }
  bool is_nearer(Code, Code) const override { return false; }
  std::optional<std::string> add_entry(std::string_view entry, ArchRequest& request) const override {
    const auto target = parse_text(entry);
    if (!target) return "there are gx1 and gx2";
    request.targets.insert(*target);
    return std::nullopt;
  }
  bool resembles(std::string_view) const override { return false; }
  std::vector<ArchWord> words() const override { return {{"gx1", "made up"}, {"gx2", "made up"}}; }
  ArchSet known_gpus() const override { return {target(1), target(2)}; }
  ArchSet all_of(const ArchSet& toolkit, bool) const override { return toolkit; }
  ArchSet default_of(int) const override { return {target(1)}; }
  ArchSet native_of(const std::vector<Target>& gpus) const override { return {gpus.begin(), gpus.end()}; }
  std::string toolkits_for(const ArchSet&) const override { return ""; }
};

}  // namespace dsbuild
