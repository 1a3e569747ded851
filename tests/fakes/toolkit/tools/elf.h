// Objects and libraries: ELF files with as much in them as linkers and dsbuild look at.
#pragma once

#include "base.h"

namespace fake {

struct Object {
  Words symbols;       // functions that it defines
  std::string data;    // its .rodata
  std::string fatbin;  // its .nv_fatbin
};

std::string make_object(const Object& object);
std::string make_library(const Object& object);
// Of an object that make_object() made.
Object read_object(const std::string& path);

// A fatbin's container: the images of these targets ("sm_80", "compute_90").
struct Image {
  std::string target;
  std::string bytes;
};
std::string make_fatbin(const std::vector<Image>& images);

}  // namespace fake
