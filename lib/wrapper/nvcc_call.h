// Parses nvcc's command lines from other build systems. Source: `nvcc --help` of CUDA 11.8, 13.0 and 13.5,
// and the behaviour of these. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/args.h"
#include "base/result.h"

namespace dsbuild {

struct DepfileWanted {
  std::string file, target;
  bool without_system_headers = false;  // -MMD
  bool has_phony_targets = false;       // -MP
  bool operator==(const DepfileWanted&) const = default;
};

// A compile of one CUDA source to an object, which may be split into parts.
struct NvccCall {
  Args flags;                  // in their order, without those that the other members have
  std::string source, object;  // as they are given
  std::string host_compiler;   // of -ccbin; "" where it is not given
  std::optional<DepfileWanted> depfile;
  bool language_is_given = false;  // -x cu

  // How results are cached: of its slices, or of the whole command, for its root alone. read_nvcc_call never
  // returns `no`.
  enum class Kept { sliced, whole, no };
  Kept kept = Kept::sliced;
  std::string why_whole;  // "makes relocatable device code (-rdc=true)"
  bool operator==(const NvccCall&) const = default;
};

// Why a command line is left to nvcc. `is_compile`: it makes an object of a CUDA source, so the user should
// hear of it; others are questions, links, other phases.
struct NotSliced {
  std::string why;  // "makes relocatable device code (-rdc=true)"
  bool is_compile = false;
  bool operator==(const NotSliced&) const = default;
};

// `read`: reads files of options (--options-file); relative names count from the caller's folder.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;
tl::expected<NvccCall, NotSliced> read_nvcc_call(const Args& words, const ReadText& read);

// The depfile that nvcc writes: the files of the line markers of all its preprocessed texts, the source
// first, in the order of their first marker; with -MMD without the system's. Only blanks are quoted. nullopt
// if a name has a character that line markers escape.
std::optional<std::string> render_nvcc_depfile(const DepfileWanted& wanted,
                                               const std::vector<std::string>& names);

}  // namespace dsbuild
