// What was asked of a bundle, and what it is.
#include <algorithm>

#include "report/json_parts.h"

namespace dsbuild {
namespace {

std::string way_text(Runs runs) {
  switch (runs) {
    case Runs::natively:
      return "natively";
    case Runs::by_generic:
      return "by generic code";
    case Runs::by_driver:
      return "by its driver's compiler";
    case Runs::not_at_all:
      break;
  }
  return "not at all";
}

Json gpu_json(const GpuCoverage& gpu) {
  Json ops = Json::array();
  for (const OpCoverage& op : gpu.ops)
    ops.push_back({{"op", op.name},
                   {"runs", runs_word(op.coverage.runs, op.coverage.by)},
                   {"by", op.coverage.by ? Json(op.coverage.by->name()) : Json(nullptr)}});
  const auto worst =
      std::ranges::find(gpu.ops, gpu.runs(), [](const OpCoverage& op) { return op.coverage.runs; });
  return {{"gpu", gpu.gpu.text()},
          {"runs", worst == gpu.ops.end() ? "none" : runs_word(worst->coverage.runs, worst->coverage.by)},
          {"ops", ops}};
}

}  // namespace

std::string render_gate(const Verdict& verdict) {
  std::string text;
  for (const GpuCoverage& gpu : verdict.gpus) {
    std::map<Runs, size_t> counts;
    for (const OpCoverage& op : gpu.ops)
      ++counts[op.coverage.runs];
    std::vector<std::string> ways;
    for (const auto& [runs, count] : counts)
      ways.push_back(std::to_string(count) + " " + way_text(runs));
    text += "GPU " + gpu.gpu.text() + "  " + plural(gpu.ops.size(), "op") +
            (ways.empty() ? " with code for GPUs" : ": " + join(ways, ", ")) + "\n";
  }
  if (const auto& signature = verdict.signature)
    text += "signed by the key " + signature->key + " (" + signature->file + "), built by " +
            signature->builder + "\n";
  return text;
}

Json gate_json(const Verdict& verdict) {
  Json gpus = Json::array(), failures = Json::array();
  for (const GpuCoverage& gpu : verdict.gpus)
    gpus.push_back(gpu_json(gpu));
  for (const Error& failure : verdict.failures)
    failures.push_back(message_json(failure));
  Json json = {
      {"passed", verdict.failures.empty()}, {"failures", failures}, {"gpus", gpus}, {"bytes", verdict.bytes}};
  if (const auto& signature = verdict.signature)
    json["signature"] = {{"key", signature->key}, {"file", signature->file}, {"builder", signature->builder}};
  return json;
}

}  // namespace dsbuild
