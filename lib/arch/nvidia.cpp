#include "arch/nvidia.h"

#include <algorithm>
#include <set>

#include "arch/nvidia_entry.h"
#include "arch/nvidia_request.h"

namespace dsbuild {
namespace {

using Code = Vendor::Code;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Most significant first, so that the order of codes is that of NvidiaTarget's members.
Code encode(const NvidiaTarget& target) {
  return static_cast<Code>(target.cc.major) << 24 | static_cast<Code>(target.cc.minor) << 16 |
         static_cast<Code>(target.suffix) << 8 | static_cast<Code>(target.kind);
}

NvidiaTarget decode(Code code) {
  return {{static_cast<int>(code >> 24), static_cast<int>(code >> 16 & 0xff)},
          static_cast<Suffix>(code >> 8 & 0xff),
          static_cast<CodeKind>(code & 0xff)};
}

std::string suffix_text(Suffix suffix) {
  switch (suffix) {
    case Suffix::a:
      return "a";
    case Suffix::f:
      return "f";
    case Suffix::none:
      break;
  }
  return "";
}

Suffix take_suffix(std::string_view& text) {
  if (text.empty() || (text.back() != 'a' && text.back() != 'f')) return Suffix::none;
  const Suffix suffix = text.back() == 'a' ? Suffix::a : Suffix::f;
  text.remove_suffix(1);
  return suffix;
}

std::string digits(const NvidiaTarget& target) {
  return std::to_string(target.cc.major) + std::to_string(target.cc.minor) + suffix_text(target.suffix);
}

// "90a" -> 9.0 and a. A CC has one digit of minor and one or two of major.
std::optional<NvidiaTarget> parse_digits(std::string_view text) {
  const Suffix suffix = take_suffix(text);
  const bool well_formed = (text.size() == 2 || text.size() == 3) && text[0] != '0' &&
                           std::all_of(text.begin(), text.end(), is_digit);
  if (!well_formed) return std::nullopt;
  const int number = std::stoi(std::string(text));
  return NvidiaTarget{{number / 10, number % 10}, suffix, CodeKind::real};
}

bool fits(const NvidiaTarget& image, ComputeCapability gpu) {
  switch (image.suffix) {
    case Suffix::a:
      return gpu == image.cc;
    case Suffix::f:
      return same_family(image.cc, gpu);
    case Suffix::none:
      break;
  }
  return gpu >= image.cc && (image.kind == CodeKind::ptx || gpu.major == image.cc.major);
}

// How near an image of a suffix is to a GPU that runs it.
int specificity(Suffix suffix) {
  switch (suffix) {
    case Suffix::none:
      return 0;
    case Suffix::f:
      return 1;
    case Suffix::a:
      break;
  }
  return 2;
}

void add_words(std::vector<ArchWord>& words, const ArchRow& row) {
  const std::string architecture = row.architecture;
  for (const Suffix suffix : {Suffix::none, Suffix::a, Suffix::f}) {
    if (row.first_for(suffix) == 0) continue;
    const Target target = NvidiaTarget{row.cc, suffix, CodeKind::real};
    words.push_back({target.text(), architecture});
    words.push_back({target.name(), architecture});
    words.push_back({virtual_name(target), architecture + ", PTX"});
  }
  words.push_back({row.cc.text() + "+PTX", architecture + " and newer"});
}

class Nvidia : public Vendor {
 public:
  std::string_view name() const override { return "nvidia"; }
  std::string_view backend() const override { return "cuda"; }
  std::string_view list_variable() const override { return "TORCH_CUDA_ARCH_LIST"; }

  std::string name_of(Code code) const override {
    return (is_virtual(code) ? "compute_" : "sm_") + digits(decode(code));
  }
  std::string text_of(Code code) const override {
    const NvidiaTarget target = decode(code);
    return target.cc.text() + suffix_text(target.suffix) + (is_virtual(code) ? "-virtual" : "");
  }
  std::string flag_of(Code code) const override {
    return "-gencode=arch=compute_" + digits(decode(code)) + ",code=" + name_of(code);
  }
  bool is_virtual(Code code) const override { return decode(code).kind == CodeKind::ptx; }
  std::string_view image_kind(Code code) const override { return is_virtual(code) ? "ptx" : "elf"; }
  Code machine_of(Code code) const override {
    const NvidiaTarget target = decode(code);
    return encode({target.cc, target.suffix, CodeKind::real});
  }
  Code plain_of(Code code) const override {
    const NvidiaTarget target = decode(code);
    return encode({target.cc, Suffix::none, target.kind});
  }

  // nvcc 13.0 and 13.5: "The same GPU code (`sm_120f`) generated for non family-specific and family-specific
  // GPU arch". Machine code alone; any other two it takes.
  std::optional<std::string> conflict_in(const ArchSet& own) const override {
    for (const Target& target : own) {
      const NvidiaTarget plain = decode(target.code);
      const Target of_family = NvidiaTarget{plain.cc, Suffix::f, CodeKind::real};
      if (plain.suffix != Suffix::none || plain.kind != CodeKind::real || !own.contains(of_family)) continue;
      return "'" + target.text() + "' and '" + of_family.text() +
             "' cannot be in one library: nvcc takes only one of them for machine code, and that of '" +
             of_family.text() + "' runs on all of its family";
    }
    return std::nullopt;
  }

  std::optional<Target> parse_name(std::string_view name) const override {
    for (const auto& [prefix, kind] :
         {std::pair<std::string_view, CodeKind>{"sm_", CodeKind::real}, {"compute_", CodeKind::ptx}}) {
      if (!name.starts_with(prefix)) continue;
      auto target = parse_digits(name.substr(prefix.size()));
      if (target) target->kind = kind;
      return target;
    }
    return std::nullopt;
  }

  std::optional<Target> parse_text(std::string_view text) const override {
    constexpr std::string_view k_virtual = "-virtual";
    const bool is_ptx = text.ends_with(k_virtual);
    if (is_ptx) text.remove_suffix(k_virtual.size());
    const Suffix suffix = take_suffix(text);
    const size_t dot = text.find('.');
    const bool well_formed = (dot == 1 || dot == 2) && text.size() == dot + 2 && is_digit(text[0]) &&
                             is_digit(text[dot - 1]) && is_digit(text[dot + 1]);
    if (!well_formed) return std::nullopt;
    const int major = std::stoi(std::string(text.substr(0, dot)));
    return NvidiaTarget{{major, text[dot + 1] - '0'}, suffix, is_ptx ? CodeKind::ptx : CodeKind::real};
  }

  std::vector<std::string> texts_of(const ArchSet& own) const override {
    const auto has = [&](NvidiaTarget target, CodeKind kind) {
      target.kind = kind;
      return own.count(target) > 0;
    };
    std::vector<std::string> texts;
    for (const Target& target : own) {
      if (!target.is_virtual())
        texts.push_back(target.text() + (has(decode(target.code), CodeKind::ptx) ? "+PTX" : ""));
      else if (!has(decode(target.code), CodeKind::real))
        texts.push_back(target.text());
    }
    return texts;
  }

  Runs runs(Code image, Code gpu) const override {
    if (!fits(decode(image), decode(gpu).cc)) return Runs::not_at_all;
    return is_virtual(image) ? Runs::by_driver : Runs::natively;
  }

  bool is_nearer(Code a_code, Code b_code) const override {
    const NvidiaTarget a = decode(a_code), b = decode(b_code);
    return std::pair(a.cc, specificity(a.suffix)) > std::pair(b.cc, specificity(b.suffix));
  }
  bool is_ordered() const override { return true; }

  std::optional<std::string> add_entry(std::string_view entry, ArchRequest& request) const override {
    return add_nvidia_entry(entry, request);
  }

  bool resembles(std::string_view) const override { return false; }  // the first vendor needs no likeness

  std::vector<ArchWord> words() const override {
    std::vector<ArchWord> words;
    std::set<std::string> names;
    for (const ArchRow& row : arch_table()) {
      add_words(words, row);
      if (names.insert(row.architecture).second) words.push_back({row.architecture, "all of its kind"});
    }
    return words;
  }

  std::optional<Target> gpu_called(std::string_view product) const override {
    return nvidia_gpu_called(product);
  }
  std::vector<ArchWord> gpu_names() const override { return nvidia_gpu_names(); }

  ArchSet known_gpus() const override {
    ArchSet gpus;
    for (const ArchRow& row : arch_table())
      gpus.insert(NvidiaTarget{row.cc});
    return gpus;
  }
  ArchSet all_of(const ArchSet& toolkit, bool major_only) const override {
    return all_nvidia_archs(toolkit, major_only);
  }
  ArchSet default_of(int version) const override { return default_nvidia_archs(version); }
  ArchSet native_of(const std::vector<Target>& gpus) const override { return native_nvidia_archs(gpus); }
  std::string toolkits_for(const ArchSet& own) const override { return cuda_versions_for(own); }
  std::optional<Target> renamed(Code code) const override {
    NvidiaTarget target = nvidia_target({this, code});
    const ArchRow* row = find_arch(target.cc);
    if (!row || row->renamed == ComputeCapability{}) return std::nullopt;
    target.cc = row->renamed;
    return target;
  }
};

}  // namespace

const Vendor& nvidia() {
  static const Nvidia vendor;
  return vendor;
}

std::string ComputeCapability::text() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

NvidiaTarget::operator Target() const {
  return {&nvidia(), encode(*this)};
}

NvidiaTarget nvidia_target(const Target& target) {
  return decode(target.code);
}

std::string virtual_name(const Target& target) {
  return "compute_" + digits(decode(target.code));
}

}  // namespace dsbuild
