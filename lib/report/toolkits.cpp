#include "report/json.h"
#include "report/table.h"

namespace dsbuild {
namespace {

// "7.5 to 12.1": the plain real archs.
std::string arch_range(const ArchSet& targets) {
  std::vector<std::string> plain;
  for (const Target& target : targets)
    if (target.kind == CodeKind::real && target.suffix == Suffix::none) plain.push_back(target.cc.text());
  return plain.empty() ? "none" : plain.front() + " to " + plain.back();
}

std::string host_text(const Toolkit& toolkit) {
  return toolkit.host ? toolkit.host->family + " " + toolkit.host->version.text()
                      : "no host compiler that it accepts (" + toolkit.bounds.text() + ")";
}

}  // namespace

std::string toolkit_line(const Toolkit& toolkit) {
  return toolkit.version.text() + " in " + toolkit.home.string() + " (" + toolkit.origin + "), " +
         arch_range(toolkit.targets) + ", " + host_text(toolkit);
}

std::string render_toolkits(const Toolkits& toolkits, const Style& style) {
  std::vector<TableRow> rows = {{"CUDA", "targets", "host compiler", "found by", "folder"}};
  for (const Toolkit& toolkit : toolkits.found)
    rows.push_back(
        {toolkit.version.text(), arch_range(toolkit.targets),
         toolkit.host ? toolkit.host->path.string() : "none that it accepts (" + toolkit.bounds.text() + ")",
         toolkit.origin, toolkit.home.string()});
  std::string text;
  if (toolkits.found.empty())
    text =
        "no CUDA toolkit found; `dsbuild toolkits get 13.5` (7.5 and newer) or `dsbuild toolkits get 11.8` "
        "(3.5 "
        "to 9.0) fetches one\n";
  else
    text = join(render_table(rows), "\n") + "\n";
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

const char* advice_word(ToolkitAdvice advice) {
  switch (advice) {
    case ToolkitAdvice::none_needed:
      return "none needed";
    case ToolkitAdvice::have:
      return "have";
    case ToolkitAdvice::get_11_8:
      return "get 11.8";
    case ToolkitAdvice::get_13_5:
      return "get 13.5";
    case ToolkitAdvice::impossible:
      return "impossible";
  }
  return "";
}

std::string render_advice_json(ToolkitAdvice advice) {
  Json json = json_document();
  json["advice"] = advice_word(advice);
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
