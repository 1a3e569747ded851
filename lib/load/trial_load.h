// Tries to open the libraries of a bundle on this machine. Each gets a process of its own, so a crash in one
// does not end the others or the program.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest.h"
#include "requirements/python.h"

namespace dsbuild {

struct LoadTrial {
  std::string op;
  std::string by;   // the loader: "dlopen", "tvm_ffi", "torch"
  std::string why;  // the loader's message, or how the process ended; "": it was opened
  std::string fix;
  bool loaded() const { return why.empty(); }
  bool operator==(const LoadTrial&) const = default;
};

// One for each op, in the manifest's order. `python` imports modules of torch together with its torch, and
// loads libraries of tvm-ffi by its tvm_ffi. The loader of the C library opens others (`dsbuild open-library
// FILE`).
std::vector<LoadTrial> try_to_load(const Path& bundle, const Manifest& manifest, const Interpreter& python);

// The last line that a child prints after it has opened its library.
inline constexpr const char* k_opened = "opened";

}  // namespace dsbuild
