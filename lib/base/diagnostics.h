// The messages of compilers, assemblers and linkers, parsed: gcc and clang ("a.cpp:3:7: error: …"), EDG in
// nvcc
// ("a.cu(3): error: …", "warning #177-D: …"), ptxas and other tools of CUDA ("ptxas x.ptx, line 3; error   :
// …"), GNU ld. The text must have no colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"

namespace dsbuild {

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::note;
  Place place;          // as the tool names it; its file is "" if the tool names none
  std::string message;  // without place and severity
  // The whole message, in lines that end in '\n': the chain of includes or instantiations, the message,
  // source lines and carets, its notes.
  std::string text;
  bool operator==(const Diagnostic&) const = default;
};

// In the order of the text. Leaves out counts ("2 errors detected …") and the hint how to suppress warnings.
// Other text of an unknown form becomes a note, so no text of a tool is lost.
std::vector<Diagnostic> parse_diagnostics(std::string_view output);

const char* key_of(Severity severity);  // "error"

}  // namespace dsbuild
