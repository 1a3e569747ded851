// Parses the messages of compilers, assemblers and linkers:
// - gcc and clang: "a.cpp:3:7: error: …"
// - nvcc's front end (EDG): "a.cu(3): error: …", "warning #177-D: …"
// - ptxas and other tools of CUDA: "ptxas x.ptx, line 3; error   : …"
// - GNU ld
// The text must have no colours.
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
  // Everything that the tool printed for it, in lines that end in '\n': the chain of includes or
  // instantiations, the line with `message`, source lines and carets, notes.
  std::string text;
  bool operator==(const Diagnostic&) const = default;
};

// Returns the messages in the order of the text. Leaves out counts ("2 errors detected …") and the hint how
// to suppress warnings. Other text that it does not recognise becomes a note.
std::vector<Diagnostic> parse_diagnostics(std::string_view output);

const char* key_of(Severity severity);  // "error"

}  // namespace dsbuild
