#include "report/sarif.h"

#include <algorithm>
#include <regex>

#include "report/json_parts.h"
#include "report/message_help.h"

namespace dsbuild {
namespace {

constexpr const char *k_root = "SRCROOT", *k_schema = "https://json.schemastore.org/sarif-2.1.0.json";

// A path as a relative reference, or with "file://" before it as a URI.
std::string uri_of(const std::string& path) {
  static constexpr char k_digits[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
    if (is_plain)
      uri += c;
    else
      uri += std::string("%") + k_digits[byte >> 4] + k_digits[byte & 15];
  }
  return uri;
}

// What a compiler calls it: "[-Wunused-variable]" of gcc, "#177-D: …" of nvcc; else that it is one's.
std::string rule_of(const Diagnostic& diagnostic) {
  static const std::regex name(R"(\[(-W[^\]]+)\]\s*$|^(#\d+(?:-D)?))");
  std::smatch found;
  if (std::regex_search(diagnostic.message, found, name)) return found[1].matched ? found[1] : found[2];
  return std::string("compiler-") + key_of(diagnostic.severity);
}

Json rule_json(const std::string& code, const std::string& page) {
  Json rule = {{"id", code}};
  const auto help = find_message_help(code, page);
  if (!help) return rule;
  rule["shortDescription"] = {{"text", help->meaning}};
  rule["help"] = {{"text", render_message_help(*help)}};
  return rule;
}

}  // namespace

void SarifLog::add_result(const std::string& rule, const std::string& level, const std::string& text,
                          const Place& place) {
  Json result = {{"ruleId", rule}};
  if (const auto known = std::ranges::find(rules_, rule); known != rules_.end())
    result["ruleIndex"] = known - rules_.begin();
  result["level"] = level;
  result["message"] = {{"text", text}};
  if (!place.file.empty()) {
    const Path file = (repository_.current / place.file).lexically_normal();
    const auto below = path_below(repository_.root, file);
    Json artifact = {{"uri", below ? uri_of(below->string()) : "file://" + uri_of(file.string())}};
    if (below) artifact["uriBaseId"] = k_root;
    Json physical = {{"artifactLocation", std::move(artifact)}};
    if (place.line > 0) {
      physical["region"] = {{"startLine", place.line}};
      if (place.column > 0) physical["region"]["startColumn"] = place.column;
    }
    result["locations"] = std::vector<Json>{{{"physicalLocation", std::move(physical)}}};
  }
  results_.push_back(std::move(result));
}

void SarifLog::add(const ToolDiagnostic& told) {
  const Diagnostic& diagnostic = told.diagnostic;
  std::string text = edge_title(*told.edge) + ": " + trim(diagnostic.text);
  if (!told.archs.empty()) text += "\nonly for " + arch_text(told.archs);
  add_result(rule_of(diagnostic), key_of(diagnostic.severity), text, diagnostic.place);
}

void SarifLog::add(const char* level, const Message& message, const Path& file) {
  if (std::ranges::find(rules_, message.code) == rules_.end()) rules_.push_back(message.code);
  const auto place = parse_place(message.where);
  std::string text = place || message.where.empty() ? "" : message.where + ": ";
  text += message.what;
  if (!message.fix.empty()) text += "\nfix: " + message.fix;
  add_result(message.code, level, text, place.value_or(Place{file.string()}));
}

void SarifLog::add(const EdgeFailure& failure) {
  if (failure.is_told) return;
  Error error = make_error(Exit::failed, "edge_failed", edge_title(failure.edge),
                           failure.first_error.empty() ? "failed" : failure.first_error, failure.hint);
  error.what += " (log: " + failure.log.string() + ")";
  add(error);
}

std::string SarifLog::render(int exit_code) const {
  Json rules = Json::array();
  for (const std::string& code : rules_)
    rules.push_back(rule_json(code, page_));
  Json driver = {{"name", "dsbuild"}, {"version", k_version}, {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}}};
  run["invocations"] = std::vector<Json>{{{"executionSuccessful", exit_code == 0}, {"exitCode", exit_code}}};
  run["originalUriBaseIds"] = {{k_root, {{"uri", "file://" + uri_of(repository_.root.string()) + "/"}}}};
  run["results"] = results_;
  Json log = {{"$schema", k_schema}, {"version", "2.1.0"}, {"runs", std::vector<Json>{std::move(run)}}};
  return log.dump(1) + "\n";
}

}  // namespace dsbuild
