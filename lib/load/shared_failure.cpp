#include "load/shared_failure.h"

#include "base/digest.h"
#include "base/json.h"

namespace dsbuild {
namespace {

constexpr const char* k_file = "failed.json";

uint64_t to_milliseconds(double seconds) {
  return seconds > 0 ? static_cast<uint64_t>(seconds * 1000) : 0;
}

uint64_t number_at(const Json& object, const char* key) {
  const Json* member = object.find(key);
  return member ? member->number().value_or(0) : 0;
}

}  // namespace

bool is_shared(const Error& error) {
  const bool is_of_tool = error.code == "out_of_time" && error.where != "build";
  return error.code == "edge_failed" || is_of_tool;
}

void share_failure(const Path& folder, const std::string& asked, const Error& error, double now,
                   FileSystem& files) {
  const Json json{
      {"asked", sha256(asked)}, {"ended", to_milliseconds(now)}, {"exit", static_cast<int>(error.exit)},
      {"code", error.code},     {"where", error.where},          {"what", error.what},
      {"fix", error.fix}};
  (void)files.write_file(folder / k_file, json.dump());
}

std::optional<Error> failure_since(const Path& folder, const std::string& asked, double since,
                                   const FileReader& files) {
  if (files.own_kind(folder / k_file) != FileKind::file) return std::nullopt;
  const auto text = files.read_file(folder / k_file);
  const auto json = text ? Json::parse(*text) : std::nullopt;
  if (!json || text_at(*json, "asked") != sha256(asked) ||
      number_at(*json, "ended") <= to_milliseconds(since))
    return std::nullopt;
  Error error;
  error.exit = static_cast<Exit>(number_at(*json, "exit"));
  error.code = text_at(*json, "code");
  error.where = text_at(*json, "where");
  error.what = "another process built it, and " + text_at(*json, "what") + "; its log is in " +
               (folder / "build" / "log").string();
  error.fix = text_at(*json, "fix");
  return error;
}

}  // namespace dsbuild
