// As much of a C preprocessor as the tests' sources need, with the order in which a real one looks for
// headers.
#pragma once

#include "base.h"

namespace fake {

struct Preprocessing {
  Words quoted, folders, system;              // -iquote, -I, -isystem and what follows them, in order
  std::map<std::string, std::string> macros;  // without parameters
  Words forced;                               // -include
  bool keeps_comments = false;
  bool takes_precompiled = false;    // as gcc does when it compiles: x.h.gch in place of x.h
  bool passes_over_missing = false;  // headers that there are not are none
  Words read;                        // all files that were read, the source first
};

// What the command line says. With CPATH and CPLUS_INCLUDE_PATH, and with folders in which the compiler looks
// by itself.
Preprocessing preprocessing_of(const Words& argv, const Words& own_folders);

// How one of the precompiled headers begins that are taken; the rest is a header's text. gcc's own are none.
inline constexpr std::string_view k_precompiled_begin = "FAKE PRECOMPILED\n";

// The text behind the preprocessor, with line markers.
std::string preprocess(const std::string& source, Preprocessing& job);

// The code of such a text, wherever it stands, with the lines that it asks for.
std::string code_of(const std::string& text);

}  // namespace fake
