#include "ninja/progress.h"
#include "report/json_parts.h"

namespace dsbuild {
namespace {

// What people compare in the logs of several machines.
std::string short_digest(const std::string& plan) {
  constexpr size_t k_shown = 12;
  return plan.substr(0, k_shown);
}

std::string heading(const ShardShare& share) {
  return "shard " + share.choice.text() + " of plan " + short_digest(share.plan);
}

Json shard_json(const ShardShare& share) {
  return {{"number", share.choice.number},
          {"of", share.choice.of},
          {"plan", share.plan},
          {"edges", share.edges},
          {"of_edges", share.of_edges},
          {"expected_seconds", share.seconds},
          {"of_expected_seconds", share.of_seconds}};
}

}  // namespace

std::string render_shard(const ShardShare& share) {
  return heading(share) + ": " + std::to_string(share.edges) + " of " +
         plural(share.of_edges, "compile edge") + ", by their sizes " + seconds_text(share.seconds) + " of " +
         seconds_text(share.of_seconds) + "\n";
}

std::string render_shard_json(const ShardShare& share) {
  return json_line({{"event", "shard"}, {"shard", shard_json(share)}});
}

std::string render_shard_outcome(const ShardOutcome& outcome) {
  return heading(outcome.share) + ": " + plural(outcome.share.edges, "compile edge") + " in " +
         seconds_text(outcome.seconds) + ", " + std::to_string(outcome.shared_compiles) +
         " from the shared cache, " + std::to_string(outcome.compiles) +
         " compiled here; all are there now\n" + render_shared(outcome.remote);
}

std::string render_shard_outcome_json(const ShardOutcome& outcome) {
  Json json = {{"event", "result"}, {"schema", 1}, {"dsbuild", k_version}};
  json["shard"] = shard_json(outcome.share);
  json["shared"] = outcome.shared_compiles;
  json["compiled"] = outcome.compiles;
  json["seconds"] = outcome.seconds;
  json["remote"] = remote_uses_json(outcome.remote);
  json["warnings"] = warnings_json(outcome.warnings);
  return json_line(json);
}

std::string render_merge(const MergeCounts& merge, int compiles) {
  std::string text = "merge of plan " + short_digest(merge.plan) + ": of " +
                     plural(merge.edges, "compile edge") + " " + std::to_string(merge.shared) +
                     " came from the shared cache, " + std::to_string(compiles) + " were compiled here\n";
  if (compiles > 0)
    text +=
        "  a shard did not end, or its log names a different plan; `dsbuild explain OP` says what differs\n";
  return text;
}

Json merge_json(const MergeCounts& merge, int compiles) {
  return {{"plan", merge.plan}, {"edges", merge.edges}, {"shared", merge.shared}, {"compiled", compiles}};
}

}  // namespace dsbuild
