#include <algorithm>

#include "report/json_parts.h"
#include "report/table.h"
#include "toolkit/family.h"
#include "toolkit/fetchable.h"

namespace dsbuild {
namespace {

// "7.5 to 12.1", "gfx700 to gfx1201": of the GPUs among them, by number.
std::string arch_range(const Toolkit& toolkit) {
  std::vector<std::string> gpus;
  for (const Target& target : intersection(toolkit.targets, toolkit.vendor().known_gpus()))
    gpus.push_back(target.text());
  const auto by_number = [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  };
  const auto [first, last] = std::minmax_element(gpus.begin(), gpus.end(), by_number);
  return gpus.empty() ? "none" : *first + " to " + *last;
}

std::string host_text(const Toolkit& toolkit) {
  return toolkit.host ? toolkit.host->family + " " + toolkit.host->version.text()
                      : "no host compiler that it accepts (" + toolkit.bounds.text() + ")";
}

std::string ways_to_get_one(const CompilerFamily& family) {
  std::vector<std::string> ways;
  for (const FetchableToolkit* row : fetchable_for(family, {}, {}))
    ways.push_back(std::string("`dsbuild toolkits get ") + row->word + "` (" + row->gpus + ")");
  return join(ways, " or ");
}

std::string version_text(const Toolkit& toolkit) {
  return toolkit.version.text() +
         (toolkit.headers.empty() ? "" : " with HIP " + toolkit.headers.short_text());
}

TableRow row_of(const Toolkit& toolkit) {
  return {version_text(toolkit), arch_range(toolkit),
          toolkit.host ? toolkit.host->path.string() : "none that it accepts (" + toolkit.bounds.text() + ")",
          toolkit.origin, toolkit.home.string()};
}

std::string family_text(const CompilerFamily& family, const Toolkits& toolkits, const Style& style) {
  Table table{{family.name, "targets", "host compiler", "found by", "folder"}, {}};
  for (const Toolkit& toolkit : toolkits.found)
    if (toolkit.family == &family) table.rows.push_back(row_of(toolkit));
  if (!table.rows.empty()) return render_table(table, style);
  const std::string ways = ways_to_get_one(family);
  const std::string begin = std::string("no ") + family.brand + " toolkit found";
  if (!ways.empty()) return begin + "; " + ways + " fetches one\n";
  return begin + (family.install ? "; " + std::string(family.install) : "") + "\n";
}

}  // namespace

std::string toolkit_line(const Toolkit& toolkit) {
  return version_text(toolkit) + " in " + toolkit.home.string() + " (" + toolkit.origin + "), " +
         arch_range(toolkit) + ", " + host_text(toolkit);
}

std::string render_toolkits(const Toolkits& toolkits, const Style& style) {
  std::string text;
  for (const CompilerFamily* family : compiler_families())
    text += family_text(*family, toolkits, style);
  for (const RejectedToolkit& rejected : toolkits.rejected)
    text += style.warn("not usable: ") + rejected.home.string() + " (" + rejected.origin +
            "): " + rejected.reason + "\n";
  return text;
}

std::string render_toolkits_json(const Toolkits& toolkits) {
  Json json = json_document();
  json["toolkits"] = Json::array();
  for (const Toolkit& toolkit : toolkits.found)
    json["toolkits"].push_back(toolkit_json(toolkit));
  json["rejected"] = rejected_json(toolkits.rejected);
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string advice_text(const ToolkitAdvice& advice) {
  switch (advice.kind) {
    case ToolkitAdvice::Kind::none_needed:
      return "none needed";
    case ToolkitAdvice::Kind::have:
      return "have";
    case ToolkitAdvice::Kind::get:
      return "get " + advice.version;
    case ToolkitAdvice::Kind::impossible:
      break;
  }
  return "impossible";
}

std::string render_advice_json(const ToolkitAdvice& advice) {
  Json json = json_document();
  json["advice"] = advice_text(advice);
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
