// Compares the two objects that slices make with the one object that nvcc makes.
#pragma once

#include <string>

#include "sys/file_system.h"

namespace dsbuild {

// The objects of one translation unit: nvcc's; the slices' with the images, and with the host code.
struct ObjectFiles {
  Path whole, images, host;
};

// Module ids: parts of the names of a translation unit's internal symbols, on the device and on the host.
struct ModuleIds {
  std::string nvccs, ours;
};

// Compares byte for byte: the device images, the host's machine code and data, their relocations, and the
// exported names. Different module ids count as equal if their lengths are equal, because mangled names
// contain lengths. Returns "" if all is equal, else the difference in words: "its device images of sm_80
// differ from nvcc's".
std::string objects_differ_by(const ObjectFiles& objects, const ModuleIds& ids, const FileReader& files);

}  // namespace dsbuild
