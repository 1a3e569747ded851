// The device code of a file in one form: what cuobjdump says of it, and what the reader finds.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "binary/image.h"

namespace dsbuild::samples {

// "elf sm_90a compressed", "ptx sm_80", "tile ir sm_100f compressed"; in file order, but Tile IR last.
using CodeList = std::vector<std::string>;

inline void add_to(CodeList& list, const std::string& kind, const std::vector<DeviceImage>& images) {
  for (const DeviceImage& image : images) {
    const std::string name = replace_all(image.target.name(), "compute_", "sm_");
    list.push_back((kind.empty() ? image.target.image_kind() : kind) + " " + name +
                   (image.compressed ? " compressed" : ""));
  }
}

inline CodeList found_by_reader(const BinaryFile& binary) {
  CodeList list;
  add_to(list, "", binary.images);
  add_to(list, "tile ir", binary.tile_images);
  return list;
}

// Of the text of `cuobjdump -all FILE`: "Fatbin elf code:" and a line "arch = sm_90a" for each image, and
// "compressed" below what is. The images of a "concatenated entry" follow it, indented.
inline CodeList said_by_cuobjdump(const std::string& text) {
  CodeList list;
  std::string kind;
  bool is_packed_together = false;
  for (const std::string& line : split_lines(text)) {
    const bool is_indented = line.starts_with("\t");
    const std::string words = is_indented ? line.substr(1) : line;
    if (words.starts_with("Fatbin ")) {
      kind = words.substr(7, words.find(" code:") - 7);
      if (!is_indented) is_packed_together = false;
    } else if (words == "compressed" && kind == "concatenated entry") {
      is_packed_together = true;
    } else if (words == "compressed" && kind != "nvvm") {
      list.back() += " compressed";
    } else if (words.starts_with("arch = ") && kind != "nvvm") {
      list.push_back(kind + " " + words.substr(7) + (is_packed_together ? " compressed" : ""));
    }
  }
  std::ranges::stable_partition(list, [](const std::string& one) { return !one.starts_with("tile ir"); });
  return list;
}

inline CodeList in_canonical_order(CodeList list) {
  std::ranges::sort(list);
  return list;
}

}  // namespace dsbuild::samples
