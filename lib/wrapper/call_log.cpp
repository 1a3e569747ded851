#include "wrapper/call_log.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace dsbuild {
namespace {

constexpr std::array k_kinds = {"taken", "sliced", "kept_whole", "left", "other"};

// Whole milliseconds: JSON's numbers are read as whole ones.
uint64_t milliseconds(double seconds) {
  return static_cast<uint64_t>(std::max(seconds, 0.0) * 1000);
}

double seconds_of(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found && found->number() ? static_cast<double>(*found->number()) / 1000 : 0;
}

}  // namespace

std::string render_call_end(const CallEnd& end) {
  const Json json = {{"kind", k_kinds.at(static_cast<size_t>(end.kind))},
                     {"source", end.source},
                     {"why", end.why},
                     {"for_folder_alone", end.is_for_folder_alone},
                     {"milliseconds", milliseconds(end.seconds)},
                     {"milliseconds_made", milliseconds(end.seconds_made)}};
  return json.dump() + "\n";
}

std::optional<CallEnd> parse_call_end(const std::string& line) {
  const auto json = Json::parse(line);
  if (!json) return std::nullopt;
  const auto kind = std::find(k_kinds.begin(), k_kinds.end(), text_at(*json, "kind"));
  if (kind == k_kinds.end()) return std::nullopt;
  return CallEnd{static_cast<CallKind>(kind - k_kinds.begin()),
                 text_at(*json, "source"),
                 text_at(*json, "why"),
                 seconds_of(*json, "milliseconds"),
                 seconds_of(*json, "milliseconds_made"),
                 is_true(*json, "for_folder_alone")};
}

void log_call(const CallEnd& end, const System& system) {
  const std::string file = variable(system.environment, k_call_log_variable);
  if (!file.empty()) (void)system.files.append(file, render_call_end(end));
}

}  // namespace dsbuild
