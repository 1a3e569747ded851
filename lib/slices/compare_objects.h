// Whether slices made what nvcc makes: two objects of slices against one of nvcc's.
#pragma once

#include <string>

#include "sys/file_system.h"

namespace dsbuild {

// Of one translation unit: nvcc's object; that with the images and that with the host's code, by slices.
struct ObjectFiles {
  Path whole, images, host;
};

// Byte for byte: the device images, the host's machine code and constants, the names that are exported. ""
// where all is the same, else what is not, in words: "its device images of sm_80 differ from nvcc's".
std::string objects_differ_by(const ObjectFiles& objects, const FileReader& files);

}  // namespace dsbuild
