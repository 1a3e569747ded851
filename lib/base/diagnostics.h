// What compilers, assemblers and linkers say, taken apart: gcc and clang ("a.cpp:3:7: error: …"), EDG in nvcc
// ("a.cu(3): error: …", "warning #177-D: …"), ptxas and other tools of CUDA ("ptxas x.ptx, line 3; error   :
// …"), GNU ld. Forms as those tools print them without colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"

namespace dsbuild {

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::note;
  Place place;          // as the tool names it; no file where the tool names none
  std::string message;  // without place and severity
  // All of it, lines that end in '\n': where it was included or instantiated from, source lines and carets,
  // the notes that belong to it.
  std::string text;
  bool operator==(const Diagnostic&) const = default;
};

// In the order of the text, without counts ("2 errors detected …") and the hint how to suppress warnings.
// Text of no known form becomes a note, so that no other text of a tool is lost.
std::vector<Diagnostic> parse_diagnostics(std::string_view output);

const char* key_of(Severity severity);  // "error"

}  // namespace dsbuild
