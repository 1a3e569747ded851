#include <map>

#include "report/json_parts.h"

namespace dsbuild {
namespace {

struct Counted {
  size_t taken = 0, sliced = 0, kept_whole = 0, left = 0, other = 0;
  double seconds_saved = 0;
  std::map<std::string, std::vector<std::string>> sources_by_why;  // of those that are not sliced
  std::vector<std::string> sources_for_folder_alone;
};

Counted count(const std::vector<CallEnd>& calls) {
  Counted counted;
  for (const CallEnd& call : calls) {
    if (call.kind == CallKind::taken) {
      ++counted.taken;
      counted.seconds_saved += std::max(0.0, call.seconds_made - call.seconds);
    }
    if (call.kind == CallKind::sliced) ++counted.sliced;
    if (call.kind == CallKind::kept_whole) ++counted.kept_whole;
    if (call.kind == CallKind::left) ++counted.left;
    if (call.kind == CallKind::other) ++counted.other;
    if (call.is_for_folder_alone) counted.sources_for_folder_alone.push_back(call.source);
    if (call.kind == CallKind::kept_whole || call.kind == CallKind::left)
      counted.sources_by_why[call.why].push_back(call.source);
  }
  return counted;
}

std::string first_of(const std::vector<std::string>& sources) {
  return sources.front() + (sources.size() > 1 ? " and " + plural(sources.size() - 1, "other") : "");
}

std::string lines_of_reasons(const Counted& counted) {
  std::string text;
  for (const auto& [why, sources] : counted.sources_by_why)
    text += "  not sliced: " + why + ": " + first_of(sources) + "\n";
  if (const auto& sources = counted.sources_for_folder_alone; !sources.empty())
    text += "  for this folder alone: device code or a macro names it: " + first_of(sources) + "\n";
  return text;
}

}  // namespace

std::string render_calls(const std::vector<CallEnd>& calls) {
  const Counted counted = count(calls);
  const size_t compiles = counted.taken + counted.sliced + counted.kept_whole + counted.left;
  if (compiles == 0) return "dsbuild: the command compiled no CUDA source by an nvcc that it looked for\n";
  std::string text = "dsbuild: " + plural(compiles, "CUDA compile") + ": " + std::to_string(counted.taken) +
                     " from the cache, " + std::to_string(counted.sliced) + " in slices, " +
                     std::to_string(counted.kept_whole) + " whole and kept, " + std::to_string(counted.left) +
                     " left to nvcc\n" + lines_of_reasons(counted);
  if (counted.seconds_saved >= 1)
    text += "  saved: " + seconds_text(counted.seconds_saved) + " of compiling\n";
  return text;
}

std::string render_calls_json(const std::vector<CallEnd>& calls, int exit_code) {
  const Counted counted = count(calls);
  Json json = json_document();
  json["from_cache"] = counted.taken;
  json["in_slices"] = counted.sliced;
  json["whole_and_kept"] = counted.kept_whole;
  json["left_to_nvcc"] = counted.left;
  json["other_calls"] = counted.other;
  json["not_sliced"] = Json::object();
  for (const auto& [why, sources] : counted.sources_by_why)
    json["not_sliced"][why] = sources;
  json["for_this_folder_alone"] = counted.sources_for_folder_alone;
  json["seconds_saved"] = counted.seconds_saved;
  json["exit_code"] = exit_code;
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
