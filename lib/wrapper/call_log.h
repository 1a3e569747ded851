// Logs the results of nvcc calls for `dsbuild wrap`: appends a line of JSON for each call to the file that a
// variable names.
#pragma once

#include "base/text.h"
#include "sys/system.h"

namespace dsbuild {

inline constexpr const char* k_call_log_variable = "DSBUILD_CALL_LOG";

enum class CallKind {
  taken,       // from the cache
  sliced,      // made by parts
  kept_whole,  // made by the whole command, and cached
  left,        // a compile of CUDA that was left to nvcc
  other        // no compile of CUDA: a link, a question
};

struct CallEnd {
  CallKind kind = CallKind::other;
  std::string source;
  std::string why;                   // for left and kept_whole: why it is not sliced
  double seconds = 0;                // time of the call; for calls left to nvcc, the time before nvcc started
  double seconds_made = 0;           // for taken: the time that it took when it was made
  bool is_for_folder_alone = false;  // for sliced: as in CachedCompile
  bool operator==(const CallEnd&) const = default;
};

// nullopt: the line is no log line.
std::string render_call_end(const CallEnd& end);
std::optional<CallEnd> parse_call_end(const std::string& line);

// Does nothing if the variable is not set. Ignores write errors.
void log_call(const CallEnd& end, const System& system);

}  // namespace dsbuild
