// The host's C++ as cudafe++ writes it. Pure.
#pragma once

#include <string>

namespace dsbuild {

// cudafe++ keeps the bodies of kernels between `#if 0` and `#endif`: they become blank lines, so that the
// host's code is the same after an edit of device code that leaves its lines where they are.
std::string blank_disabled_code(std::string text);

// In place of nvcc's fatbin.c, which holds all images as text: C that refers to them by a hidden symbol. And
// what defines the symbol: assembler that takes in the file `images`.
std::string images_symbol(const std::string& module_id);
std::string fatbin_shim(const std::string& symbol);
std::string fatbin_assembly(const std::string& symbol, const std::string& images);

}  // namespace dsbuild
