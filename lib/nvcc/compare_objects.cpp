#include "nvcc/compare_objects.h"

#include <algorithm>

#include "base/text.h"
#include "binary/bytes.h"
#include "binary/elf.h"
#include "binary/fatbin.h"

namespace dsbuild {
namespace {

constexpr const char* k_images_section = ".nv_fatbin";
constexpr const char* k_segment_section = ".nvFatBinSegment";

using Texts = std::vector<std::string>;

class ObjectComparison {
 public:
  // `whole`, `images` and `host` as in ObjectFiles.
  ObjectComparison(const ElfFile& whole, const ElfFile& images, const ElfFile& host, const ModuleIds& ids)
      : whole_(whole), images_(images), host_(host), ids_(ids) {}

  std::string difference() const {
    const std::string difference = images_differ_by();
    return difference.empty() ? host_differs_by() : difference;
  }

 private:
  // Nvcc's, as it would be with our module id.
  std::string with_our_id(std::string nvccs) const {
    const bool can_stand_for_it = ids_.nvccs.size() == ids_.ours.size();
    return can_stand_for_it ? replace_all(std::move(nvccs), ids_.nvccs, ids_.ours) : nvccs;
  }

  bool same(const Texts& nvccs, const Texts& ours) const {
    return std::equal(
        nvccs.begin(), nvccs.end(), ours.begin(), ours.end(),
        [&](const std::string& one, const std::string& other) { return with_our_id(one) == other; });
  }

  // Those whose name begins so, in order.
  static Texts sections(const ElfFile& elf, const std::string& beginning) {
    Texts found;
    for (const ElfSection& section : elf.sections)
      if (section.name.starts_with(beginning)) found.emplace_back(as_text(section.bytes));
    return found;
  }

  // What the bytes of such sections refer to. The segment refers to the images, which are in another object.
  static Texts references(const ElfFile& elf, const std::string& beginning) {
    Texts found;
    if (beginning == k_segment_section) return found;
    for (const ElfSection& section : elf.sections)
      if (section.name.starts_with(".rela" + beginning))
        for (const ElfRelocation& each : elf_relocations(elf, section))
          found.push_back(std::string(section.name) + " " + std::to_string(each.offset) + " " +
                          std::to_string(each.type) + " " + std::to_string(each.addend) + " " +
                          std::string(each.symbol));
    return found;
  }

  struct NamedCode {
    std::string name;
    std::string content;
  };

  // Empty where the section is damaged: then all that can be said is that it differs.
  static std::vector<NamedCode> device_code(const ElfFile& elf) {
    const ElfSection* section = elf.find(k_images_section);
    const MemoryBytes source(section ? section->bytes : Bytes());
    const auto containers = read_stored_containers(source, "");
    std::vector<NamedCode> code;
    if (!containers) return code;
    for (const StoredContainer& container : *containers)
      for (const StoredImage& stored : container)
        code.push_back({stored.image.target.name(), content_of(stored)});
    return code;
  }

  static Texts names_of(const std::vector<NamedCode>& code) {
    Texts names;
    for (const NamedCode& each : code)
      names.push_back(each.name);
    return names;
  }

  // As it is stored, where it cannot be unpacked.
  static std::string content_of(const StoredImage& stored) {
    auto content = unpack_image(stored, "");
    if (!content) content = stored.content.read_all();
    return std::move(content).value_or("");
  }

  std::string images_differ_by() const {
    if (sections(whole_, k_images_section) == sections(images_, k_images_section)) return "";
    const std::vector<NamedCode> nvccs = device_code(whole_), ours = device_code(images_);
    if (names_of(nvccs) != names_of(ours))
      return "its device images are of " + join(names_of(ours), ", ") + ", nvcc's of " +
             join(names_of(nvccs), ", ");
    Texts different;
    bool has_ids = false;
    for (size_t i = 0; i < ours.size(); ++i) {
      const std::string with_our = with_our_id(nvccs[i].content);
      has_ids |= with_our != nvccs[i].content;
      if (with_our != ours[i].content) different.push_back(ours[i].name);
    }
    if (different.empty() && has_ids) return "";
    return "its device images" + (different.empty() ? "" : " of " + join(different, ", ")) +
           " differ from nvcc's";
  }

  std::string host_differs_by() const {
    for (const char* name : {".text", ".rodata", ".data", ".tdata", ".init_array", ".fini_array",
                             ".gcc_except_table", ".eh_frame", k_segment_section})
      if (!same(sections(whole_, name), sections(host_, name)) ||
          !same(references(whole_, name), references(host_, name)))
        return "its host code differs from nvcc's in " + std::string(name);
    return exports_are_the_same() ? "" : "its exports differ from nvcc's";
  }

  bool exports_are_the_same() const {
    Texts nvccs = elf_exports(whole_);
    for (std::string& name : nvccs)
      name = with_our_id(std::move(name));
    std::sort(nvccs.begin(), nvccs.end());
    return nvccs == elf_exports(host_);
  }

  const ElfFile &whole_, &images_, &host_;
  const ModuleIds& ids_;
};

}  // namespace

std::string objects_differ_by(const ObjectFiles& objects, const ModuleIds& ids, const FileReader& files) {
  const auto whole = files.read_file(objects.whole), images = files.read_file(objects.images),
             host = files.read_file(objects.host);
  if (!whole || !images || !host) return "an object is missing";
  const auto whole_elf = read_elf(as_bytes_of(*whole), objects.whole.string()),
             images_elf = read_elf(as_bytes_of(*images), objects.images.string()),
             host_elf = read_elf(as_bytes_of(*host), objects.host.string());
  if (!whole_elf || !images_elf || !host_elf) return "an object is not an ELF file";
  return ObjectComparison(*whole_elf, *images_elf, *host_elf, ids).difference();
}

}  // namespace dsbuild
