#include <algorithm>
#include <cmath>

#include "ninja/progress.h"
#include "report/json_parts.h"

namespace dsbuild {
namespace {

std::string one_decimal(double value) {
  const long tenths = std::lround(value * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string counts_text(const BuildOutcome& outcome) {
  std::string text =
      "built " + std::to_string(outcome.manifest.ops.size()) + ", skipped " + std::to_string(outcome.skipped);
  if (!outcome.failures.empty()) text += ", failed " + std::to_string(outcome.manifest.failed.size());
  text += " in " + one_decimal(outcome.seconds) + " s, " +
          plural(static_cast<size_t>(outcome.edges_run), "edge") + " run";
  if (outcome.store.hits > 0) text += ", " + std::to_string(outcome.store.hits) + " found in the cache";
  if (outcome.slowest)
    text += "; slowest: " + edge_title(*outcome.slowest->edge) + " (" +
            one_decimal(outcome.slowest->seconds) + " s)";
  return text + "\n";
}

std::string waits_text(const MemoryWaits& waits) {
  constexpr size_t k_shown = 3;
  std::string text;
  if (waits.edges > 0)
    text += "memory: " + plural(waits.edges, "edge") + " waited, " + seconds_text(waits.seconds) +
            " together, to stay below " + human_size(waits.bound) + "\n";
  for (size_t i = 0; i < waits.alone.size() && i < k_shown; ++i)
    text += "ran alone, for it needs " + human_size(waits.alone[i].second) + ": " +
            edge_title(*waits.alone[i].first) + "\n";
  if (waits.alone.size() > k_shown)
    text += "ran alone, too: " + plural(waits.alone.size() - k_shown, "other edge") + "\n";
  return text;
}

// Why steps ran that the store has of other files; most of them first.
std::string differences_text(const CacheUses& uses) {
  constexpr size_t k_shown = 3;
  std::vector<std::pair<std::string, size_t>> sorted(uses.differences.begin(), uses.differences.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < sorted.size() && i < k_shown; ++i)
    text += (i > 0 ? "; " : "") + sorted[i].first + " (" + plural(sorted[i].second, "edge") + ")";
  if (sorted.size() > k_shown) text += "; and " + std::to_string(sorted.size() - k_shown) + " more";
  return text.empty() ? "" : "different from the cache: " + text + "\n";
}

Json waits_json(const MemoryWaits& waits) {
  Json alone = Json::array();
  for (const auto& [edge, bytes] : waits.alone)
    alone.push_back({{"op", edge->op}, {"source", edge->source}, {"part", edge->part}, {"bytes", bytes}});
  return {{"bound", waits.bound},
          {"waited_edges", waits.edges},
          {"waited_seconds", waits.seconds},
          {"alone", alone}};
}

Json failures_json(const std::vector<EdgeFailure>& failures) {
  Json list = Json::array();
  for (const EdgeFailure& failure : failures)
    list.push_back({{"op", failure.edge.op},
                    {"source", failure.edge.source},
                    {"archs", arch_strings(failure.targets)},
                    {"error", failure.first_error},
                    {"log", failure.log.string()},
                    {"reproduce", failure.reproduce}});
  return list;
}

Json execution_json(const ExecutorUses& uses) {
  return {{"executed", uses.executed},
          {"cached", uses.cached},
          {"failed", uses.failed},
          {"taken_back", uses.taken_back},
          {"won_here", uses.won_here},
          {"workers", std::vector<std::string>(uses.workers.begin(), uses.workers.end())},
          {"worked_seconds", uses.worked_seconds},
          {"bytes_up", uses.bytes_up},
          {"bytes_down", uses.bytes_down},
          {"requests", uses.requests},
          {"off", uses.off.empty() ? Json(nullptr) : Json(uses.off)}};
}

Json manifest_ops_json(const Manifest& manifest) {
  Json list = Json::array();
  for (const ManifestOp& op : manifest.ops)
    list.push_back({{"name", op.name},
                    {"file", op.file},
                    {"sha256", op.sha256},
                    {"bytes", op.bytes},
                    {"archs", arch_strings(op.archs)}});
  return list;
}

}  // namespace

// "shared: 42 of 45 found there (1.2 MiB), 3 brought there (80 KiB), 90 requests"
std::string render_shared(const MirrorUses& uses) {
  const RemoteCounts& counts = uses.counts;
  if (counts.requests == 0) return "";
  std::string text = "shared: " + std::to_string(counts.hits) + " of " +
                     std::to_string(counts.hits + counts.misses) + " found there (" +
                     human_size(counts.received_bytes) + ")";
  if (counts.uploads > 0 || counts.sent_bytes > 0)
    text += ", " + std::to_string(counts.uploads) + " brought there (" + human_size(counts.sent_bytes) + ")";
  if (counts.renewals > 0) text += ", " + std::to_string(counts.renewals) + " written again";
  if (counts.untrusted > 0) text += ", " + std::to_string(counts.untrusted) + " not trusted";
  if (!uses.read_only.empty()) text += ", it takes none: " + uses.read_only;
  return text + ", " + plural(counts.requests, "request") + "\n";
}

// "elsewhere: 96 tools on 3 workers, 45.2 s of their time; 12 had run before, 2 taken back; 4.1 MiB up, 1.2
// MiB down, 412 requests"
std::string render_executed(const ExecutorUses& uses) {
  if (!uses.were_any()) return "";
  std::string text = "elsewhere: " + plural(uses.executed, "tool");
  if (!uses.workers.empty()) text += " on " + plural(uses.workers.size(), "worker");
  text += ", " + seconds_text(uses.worked_seconds) + " of their time";
  std::vector<std::string> more;
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) more.push_back(std::to_string(count) + " " + what);
  };
  add(uses.cached, "had run before");
  add(uses.taken_back, "taken back");
  add(uses.won_here, "faster here");
  add(uses.failed, "failed there and ran here");
  if (!more.empty()) text += "; " + join(more, ", ");
  return text + "; " + human_size(uses.bytes_up) + " up, " + human_size(uses.bytes_down) + " down, " +
         plural(uses.requests, "request") + "\n";
}

std::string render_edge_failure(const EdgeFailure& failure, const Style& style) {
  const Edge& edge = failure.edge;
  std::string text = style.bad("failed: ") + edge_title(edge) + "\n";
  if (!failure.targets.empty()) text += "  archs: " + arch_text(failure.targets) + "\n";
  if (!failure.is_told && !failure.first_error.empty()) text += "  " + failure.first_error + "\n";
  text += "  log, with the command that repeats it: " + failure.log.string() + "\n";
  if (!failure.hint.empty()) text += "  fix: " + failure.hint + "\n";
  if (style.verbose) text += "  reproduce: " + failure.reproduce + "\n";
  if (style.verbose && !failure.nvcc.empty()) text += "  nvcc alone: " + failure.nvcc + "\n";
  text = without_commands(text);
  return style.annotate && !failure.is_told ? text + render_annotation(failure, style.repository) : text;
}

std::string render_build_outcome(const BuildOutcome& outcome, const Style& style) {
  std::string text = style.bold(outcome.bundle.path.string()) + "  " +
                     plural(outcome.manifest.ops.size(), "op") + ", " + human_size(outcome.bundle.bytes) +
                     (outcome.bundle.changed ? "" : ", unchanged") + "\n";
  if (outcome.merge) text += render_merge(*outcome.merge, outcome.compiles);
  text += counts_text(outcome) + differences_text(outcome.store) +
          (outcome.remote ? render_shared(*outcome.remote) : "") +
          (outcome.execution ? render_executed(*outcome.execution) : "") + waits_text(outcome.waits);
  if (outcome.compared) text += render_comparison(*outcome.compared);
  text += render_kernels(outcome.kernels, style);
  if (const std::string& key = outcome.bundle.signed_by; !key.empty())
    text += "signed by the key " + key + "\n";
  text += "next: " + own_command({"verify", outcome.bundle.path.string()}) + "\n";
  if (outcome.failures.empty()) return text;
  const std::set<std::string> failed = ops_of(outcome.failures);
  std::vector<std::string> built;
  for (const ManifestOp& op : outcome.manifest.ops)
    built.push_back(op.name);
  return text + render_unfinished({failed.begin(), failed.end()}, built);
}

std::string render_unfinished(const std::vector<std::string>& failed, const std::vector<std::string>& built) {
  return "failed: " + join(failed, ", ") + "; built: " + (built.empty() ? "none" : join(built, ", ")) + "\n";
}

std::string render_unbuilt_json(const Error& error, const std::vector<EdgeFailure>& failures,
                                const UnfinishedRun& left) {
  Json json = {{"event", "result"}, {"schema", 1}, {"dsbuild", k_version}};
  json["error"] = error_json(error);
  json["exit"] = static_cast<int>(error.exit);
  json["failed"] = failures_json(failures);
  json["built"] = left.built;
  json["edges_left"] = left.edges_left;
  return json_line(json);
}

std::string render_build_outcome_json(const BuildOutcome& outcome) {
  Json json = {{"event", "result"}, {"schema", 1}, {"dsbuild", k_version}};
  json["bundle"] = {{"path", outcome.bundle.path.string()},
                    {"bytes", outcome.bundle.bytes},
                    {"changed", outcome.bundle.changed}};
  if (const std::string& key = outcome.bundle.signed_by; !key.empty()) json["bundle"]["signed_by"] = key;
  json["ops"] = manifest_ops_json(outcome.manifest);
  json["failed"] = failures_json(outcome.failures);
  json["skipped"] = outcome.skipped;
  if (outcome.compared) json["compared"] = *outcome.compared;
  json["edges_run"] = outcome.edges_run;
  json["seconds"] = outcome.seconds;
  if (outcome.remote) json["remote"] = remote_uses_json(*outcome.remote);
  if (outcome.execution) json["execution"] = execution_json(*outcome.execution);
  if (outcome.merge) json["merge"] = merge_json(*outcome.merge, outcome.compiles);
  json["store"] = cache_uses_json(outcome.store);
  json["store"]["saved_milliseconds"] = outcome.store.saved_milliseconds();
  json["store"]["differences"] = Json::object();
  for (const auto& [what, edges] : outcome.store.differences)
    json["store"]["differences"][what] = edges;
  json["memory"] = waits_json(outcome.waits);
  json["warnings"] = warnings_json(outcome.warnings);
  if (outcome.gate) json["gate"] = gate_json(*outcome.gate);
  if (!outcome.kernels.empty()) json["kernels"] = kernels_json(outcome.kernels);
  return json_line(json);
}

}  // namespace dsbuild
