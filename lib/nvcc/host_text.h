// Changes the host's C++ that cudafe++ writes. Pure.
#pragma once

#include <string>

namespace dsbuild {

// cudafe++ keeps the bodies of kernels between `#if 0` and `#endif`: this function makes them blank lines. So
// the host's C++ stays equal after an edit of device code that moves no lines.
std::string blank_disabled_code(std::string text);

// Replace nvcc's fatbin.c, which contains all images as text: fatbin_shim is C code that refers to the images
// by a hidden symbol. fatbin_assembly is assembler that defines the symbol with the content of the file
// `images`.
std::string images_symbol(const std::string& module_id);
std::string fatbin_shim(const std::string& symbol);
std::string fatbin_assembly(const std::string& symbol, const std::string& images);

}  // namespace dsbuild
