// What kernels take of a GPU in one form: what cuobjdump says of it, and what the reader finds.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "binary/kernels.h"

namespace dsbuild::samples {

// "sm_80 _Z1kPf REG:8 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:360", sorted.
using ResourceList = std::vector<std::string>;

inline ResourceList found_of_resources(const std::vector<ImageKernels>& images) {
  ResourceList list;
  for (const ImageKernels& image : images)
    for (const Kernel& kernel : image.kernels) {
      const KernelResources& uses = kernel.resources;
      std::string line = image.image.target.name() + " " + kernel.name +
                         " REG:" + std::to_string(uses.registers) + " STACK:" + std::to_string(uses.stack) +
                         " SHARED:" + std::to_string(uses.shared) + " LOCAL:" + std::to_string(uses.local);
      if (uses.constant > 0) line += " CONSTANT[0]:" + std::to_string(uses.constant);
      list.push_back(line);
    }
  std::ranges::sort(list);
  return list;
}

// Of the text of `cuobjdump --dump-resource-usage FILE`: "arch = sm_80" ahead of each image, " Function
// NAME:" and a line of what it takes. A bare cubin has no line of its arch, which is `arch` then.
inline ResourceList said_of_resources(const std::string& text, std::string arch = "") {
  ResourceList list;
  std::string function;
  for (const std::string& line : split_lines(text)) {
    const std::string words(trim(line));
    if (words.starts_with("arch = ")) arch = words.substr(7);
    if (words.starts_with("Function ")) function = words.substr(9, words.size() - 10);
    if (!words.starts_with("REG:")) continue;
    std::string said = arch + " " + function;
    for (const std::string& word : split(words, " "))
      for (const char* known : {"REG:", "STACK:", "SHARED:", "LOCAL:", "CONSTANT[0]:"})
        if (word.starts_with(known)) said += " " + word;
    list.push_back(said);
  }
  std::ranges::sort(list);
  return list;
}

}  // namespace dsbuild::samples
