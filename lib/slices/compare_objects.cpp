#include "slices/compare_objects.h"

#include "base/text.h"
#include "bundle/bytes.h"
#include "bundle/elf.h"
#include "bundle/fatbin.h"

namespace dsbuild {
namespace {

constexpr const char* k_images_section = ".nv_fatbin";

// Those whose name begins so, in order.
std::vector<std::string> sections(const ElfFile& elf, std::string_view beginning) {
  std::vector<std::string> found;
  for (const ElfSection& section : elf.sections)
    if (section.name.starts_with(beginning)) found.emplace_back(as_text(section.bytes));
  return found;
}

// Empty where the section is damaged: then all that can be said is that it differs.
std::vector<StoredImage> stored_images(const ElfFile& elf) {
  const ElfSection* section = elf.find(k_images_section);
  const auto images = read_stored_images(section ? section->bytes : Bytes(), "");
  return images ? *images : std::vector<StoredImage>();
}

std::vector<std::string> names_of(const std::vector<StoredImage>& images) {
  std::vector<std::string> names;
  for (const StoredImage& stored : images)
    names.push_back(stored.image.target.name());
  return names;
}

std::string images_differ_by(const ElfFile& whole, const ElfFile& sliced) {
  if (sections(whole, k_images_section) == sections(sliced, k_images_section)) return "";
  const std::vector<StoredImage> theirs = stored_images(whole), ours = stored_images(sliced);
  if (names_of(theirs) != names_of(ours))
    return "its device images are of " + join(names_of(ours), ", ") + ", nvcc's of " +
           join(names_of(theirs), ", ");
  std::vector<std::string> different;
  for (size_t i = 0; i < ours.size(); ++i)
    if (as_text(ours[i].content) != as_text(theirs[i].content))
      different.push_back(ours[i].image.target.name());
  return "its device images" + (different.empty() ? "" : " of " + join(different, ", ")) +
         " differ from nvcc's";
}

std::string host_differs_by(const ElfFile& whole, const ElfFile& host) {
  for (const char* name : {".text", ".rodata", ".init_array", ".nvFatBinSegment"})
    if (sections(whole, name) != sections(host, name))
      return "its host code differs from nvcc's in " + std::string(name);
  return elf_exports(whole) == elf_exports(host) ? "" : "its exports differ from nvcc's";
}

}  // namespace

std::string objects_differ_by(const ObjectFiles& objects, const FileReader& files) {
  const auto whole = files.read_file(objects.whole), images = files.read_file(objects.images),
             host = files.read_file(objects.host);
  if (!whole || !images || !host) return "an object is missing";
  const auto whole_elf = read_elf(as_bytes_of(*whole), objects.whole.string()),
             images_elf = read_elf(as_bytes_of(*images), objects.images.string()),
             host_elf = read_elf(as_bytes_of(*host), objects.host.string());
  if (!whole_elf || !images_elf || !host_elf) return "an object is no ELF file";
  const std::string difference = images_differ_by(*whole_elf, *images_elf);
  return difference.empty() ? host_differs_by(*whole_elf, *host_elf) : difference;
}

}  // namespace dsbuild
