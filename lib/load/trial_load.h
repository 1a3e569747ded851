// Whether the libraries of a bundle can be opened on this machine: tried, each in a process of its own, so
// that no fault of one takes another or the program with it.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest.h"
#include "requirements/python.h"

namespace dsbuild {

struct LoadTrial {
  std::string op;
  std::string by;   // what opened it: "dlopen", "tvm_ffi", "torch"
  std::string why;  // it cannot be opened: what the loader said, or how the process ended; "": it was opened
  std::string fix;
  bool loaded() const { return why.empty(); }
  bool operator==(const LoadTrial&) const = default;
};

// Of each op, in the manifest's order. Modules of torch are imported by `python` beside its torch, libraries
// of tvm-ffi are loaded by its tvm_ffi, others by the loader of the C library alone (`dsbuild open-library
// FILE`).
std::vector<LoadTrial> try_to_load(const Path& bundle, const Manifest& manifest, const Interpreter& python);

// What a child says last that has opened its library.
inline constexpr const char* k_opened = "opened";

}  // namespace dsbuild
