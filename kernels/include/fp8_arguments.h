// The arguments that the ops of 8-bit floats share.
#pragma once

#include <string>

#include "arguments.h"
#include "fp8_format.h"
#include "tensor_checks.h"

namespace dsbuild::ops {

inline Fp8Format checked_fp8_format(const Arguments& arguments, const char* name, const std::string& text) {
  check_value(arguments, name, text == "e4m3" || text == "e5m2", "\"e4m3\" or \"e5m2\"");
  return text == "e4m3" ? Fp8Format::e4m3 : Fp8Format::e5m2;
}

inline Fp8Format read_fp8_format(Arguments& arguments, const char* name) {
  return checked_fp8_format(arguments, name, arguments.text(name));
}

inline Fp8Format read_fp8_format_or(Arguments& arguments, const char* name, const char* fallback) {
  return checked_fp8_format(arguments, name, arguments.text_or(name, fallback));
}

}  // namespace dsbuild::ops
