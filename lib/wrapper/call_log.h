// What calls of nvcc's came to, for who started the build that makes them (`dsbuild wrap`): a line of JSON
// each, at the end of the file that a variable names.
#pragma once

#include "base/text.h"
#include "sys/system.h"

namespace dsbuild {

inline constexpr const char* k_call_log_variable = "DSBUILD_CALL_LOG";

enum class CallKind {
  taken,       // from the cache
  sliced,      // made by parts
  kept_whole,  // made by the whole command, and kept
  left,        // a compile of CUDA that was left to nvcc
  other        // no compile of CUDA: a link, a question
};

struct CallEnd {
  CallKind kind = CallKind::other;
  std::string source;
  std::string why;                   // left, kept_whole: why it is not sliced
  double seconds = 0;                // that it took; of what is left to nvcc before that started
  double seconds_made = 0;           // taken: that it took when it was made
  bool is_for_folder_alone = false;  // sliced: as of CachedCompile
  bool operator==(const CallEnd&) const = default;
};

// nullopt: no such line.
std::string render_call_end(const CallEnd& end);
std::optional<CallEnd> parse_call_end(const std::string& line);

// Where the variable names a file; what cannot be written is not said.
void log_call(const CallEnd& end, const System& system);

}  // namespace dsbuild
