// `dsbuild verify`.
#include <algorithm>

#include "report/json_parts.h"

namespace dsbuild {
namespace {

std::string trial_text(const LoadTrial& trial, const Style& style) {
  if (trial.loaded()) return style.good("loads") + "  " + trial.op + " (" + trial.by + ")\n";
  return style.bad("does not load: ") + trial.op + ": " + trial.why + "\n  fix: " + trial.fix + "\n";
}

std::string trials_text(const std::vector<LoadTrial>& trials, const std::string& bundle, const Style& style) {
  std::string text;
  for (const LoadTrial& trial : trials)
    text += trial_text(trial, style);
  return text + bundle + ": " + std::to_string(std::ranges::count_if(trials, &LoadTrial::loaded)) + " of " +
         plural(trials.size(), "op") + " can be loaded here\n";
}

Json trials_json(const std::vector<LoadTrial>& trials) {
  Json list = Json::array();
  for (const LoadTrial& trial : trials)
    list.push_back({{"op", trial.op},
                    {"loaded", trial.loaded()},
                    {"by", trial.by},
                    {"why", trial.loaded() ? Json(nullptr) : Json(trial.why)},
                    {"fix", trial.loaded() ? Json(nullptr) : Json(trial.fix)}});
  return list;
}

}  // namespace

bool VerifiedBundle::ok() const {
  return differences.empty() && (!loads || std::ranges::all_of(*loads, &LoadTrial::loaded)) &&
         (!gate || gate->failures.empty());
}

std::string render_comparison(size_t files) {
  return "compared " + plural(files, "file") +
         (files > 0 ? ": the same as nvcc's\n" : ": nvcc makes none in slices\n");
}

std::string render_verified(const VerifiedBundle& verified, const Style& style) {
  if (verified.differences.empty())
    return style.good("ok") + "  " + verified.bundle + " holds what its manifest says\n" +
           (verified.rebuilt ? "rebuilt from its provenance: the same bytes\n" : "") +
           (verified.compared ? render_comparison(*verified.compared) : "") +
           (verified.gate ? render_gate(*verified.gate) : "") +
           (verified.loads ? trials_text(*verified.loads, verified.bundle, style) : "");
  std::string text;
  for (const Difference& difference : verified.differences)
    text += style.bad("differs: ") + difference.what + "\n";
  return text + verified.bundle + ": " + plural(verified.differences.size(), "difference") + "\n";
}

std::string render_verified_json(const VerifiedBundle& verified) {
  Json json = json_document();
  json["bundle"] = verified.bundle;
  if (verified.compared) json["compared"] = *verified.compared;
  if (verified.rebuilt) json["rebuilt"] = true;
  json["ok"] = verified.ok();
  json["differences"] = Json::array();
  for (const Difference& difference : verified.differences)
    json["differences"].push_back(
        {{"op", difference.op}, {"file", difference.file}, {"what", difference.what}});
  if (verified.gate) json["gate"] = gate_json(*verified.gate);
  if (verified.loads) json["loads"] = trials_json(*verified.loads);
  json["warnings"] = warnings_json(verified.warnings);
  return json_line(json);
}

}  // namespace dsbuild
