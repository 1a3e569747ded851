#include "report/json.h"
#include "report/table.h"

namespace dsbuild {
namespace {

// "7.5 to 12.1": the plain real archs.
std::string arch_range(const ArchSet& targets) {
  std::vector<std::string> plain;
  for (const Target& target : targets)
    if (target == target.base()) plain.push_back(target.text());
  return plain.empty() ? "none" : plain.front() + " to " + plain.back();
}

std::string host_text(const Toolkit& toolkit) {
  return toolkit.host ? toolkit.host->family + " " + toolkit.host->version.text()
                      : "no host compiler that it accepts (" + toolkit.bounds.text() + ")";
}

std::vector<std::string> ways_to_get_one() {
  std::vector<std::string> ways;
  for (const FetchableCuda& row : fetchable_cuda())
    ways.push_back(std::string("`dsbuild toolkits get ") + row.version + "` (" + row.gpus + ")");
  return ways;
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
    text = "no CUDA toolkit found; " + join(ways_to_get_one(), " or ") + " fetches one\n";
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
