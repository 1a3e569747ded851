// Whether slices made what nvcc makes: two objects of slices against one of nvcc's.
#pragma once

#include <string>

#include "sys/file_system.h"

namespace dsbuild {

// Of one translation unit: nvcc's object; that with the images and that with the host's code, by slices.
struct ObjectFiles {
  Path whole, images, host;
};

// They are part of the names of what a translation unit has for itself, on the device and on the host.
struct ModuleIds {
  std::string nvccs, ours;
};

// Byte for byte: the device images, the host's machine code and data, what they refer to, the names that are
// exported. Of two different module ids one stands for the other; only ids of one length do, for names have
// their length in them. "" where all is the same, else what is not, in words: "its device images of sm_80
// differ from nvcc's".
std::string objects_differ_by(const ObjectFiles& objects, const ModuleIds& ids, const FileReader& files);

}  // namespace dsbuild
