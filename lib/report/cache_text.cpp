#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

std::string uses_text(uint64_t hits, uint64_t misses) {
  return hits + misses == 0 ? "-" : std::to_string(hits) + " of " + std::to_string(hits + misses);
}

std::string saved_text(uint64_t milliseconds) {
  return seconds_text(static_cast<double>(milliseconds) / 1000) + " of CPU time";
}

std::string refusals_text(const RemoteCounts& counts) {
  std::vector<std::string> words;
  for (const auto& [number, what] :
       {std::pair(counts.damaged, "damaged"), std::pair(counts.untrusted, "signed by no trusted key"),
        std::pair(counts.lost, "whose files were gone")})
    if (number > 0) words.push_back(std::to_string(number) + " " + what);
  return join(words, ", ");
}

std::vector<TableRow> remote_rows(const CacheCounts& counts) {
  if (counts.remote.empty()) return {};
  const RemoteCounts all = sum_of(counts.remote);
  std::vector<TableRow> rows = {
      {"shared cache", uses_text(all.hits, all.misses) + (all.hits + all.misses > 0 ? " found there" : "")},
      {"  saved", saved_text(all.saved_milliseconds)},
      {"  traffic", human_size(all.received_bytes) + " received, " + human_size(all.sent_bytes) + " sent, " +
                        plural(all.requests, "request")},
      {"  uploads", plural(all.uploads, "result")}};
  if (const std::string refused = refusals_text(all); !refused.empty())
    rows.push_back({"  did not count", refused});
  if (all.fallbacks > 0)
    rows.push_back(
        {"  went on without it", plural(all.fallbacks, "build") + "; the last: " + counts.last_fallback});
  if (counts.remote.size() > 1)
    for (const auto& [scope, one] : counts.remote)
      rows.push_back({"  scope " + (scope.empty() ? "(none)" : scope), uses_text(one.hits, one.misses)});
  return rows;
}

Json remote_counts_json(const RemoteCounts& counts) {
  Json json = Json::object();
  for (const auto& row : remote_count_rows())
    json[row.name] = counts.*row.number;
  return json;
}

Json remote_json(const CacheCounts& counts) {
  Json json = remote_counts_json(sum_of(counts.remote));
  json["last_fallback"] = counts.last_fallback;
  json["scopes"] = Json::object();
  for (const auto& [scope, one] : counts.remote)
    json["scopes"][scope] = remote_counts_json(one);
  return json;
}

std::string bound_text(unsigned long long limit) {
  return limit == 0 ? "nothing is kept (--cache-size 0)" : human_size(limit);
}

}  // namespace

Json cache_uses_json(const CacheUses& uses) {
  return {{"hits", uses.hits}, {"misses", uses.misses}};
}

Json remote_uses_json(const MirrorUses& uses) {
  const RemoteCounts& counts = uses.counts;
  return {{"hits", counts.hits},
          {"misses", counts.misses},
          {"uploaded", counts.uploads},
          {"renewed", counts.renewals},
          {"bytes_in", counts.received_bytes},
          {"bytes_out", counts.sent_bytes},
          {"requests", counts.requests},
          {"saved_milliseconds", counts.saved_milliseconds},
          {"lost", counts.lost},
          {"damaged", counts.damaged},
          {"off", uses.off},
          {"read_only", uses.read_only},
          {"untrusted", counts.untrusted}};
}

std::string render_cache_stats(const CacheView& view, const Style& style) {
  const CacheStats& stats = view.stats;
  const CacheCounts& counts = stats.counts;
  std::vector<TableRow> rows = {{"folder", view.folder},
                                {"entries", std::to_string(stats.entries)},
                                {"size", human_size(stats.bytes)},
                                {"bound", bound_text(view.limit)},
                                {"hits, last build", uses_text(counts.last_hits, counts.last_misses)},
                                {"hits, all builds", uses_text(counts.hits, counts.misses)},
                                {"saved, all builds", saved_text(counts.saved_milliseconds)}};
  for (TableRow& row : remote_rows(counts))
    rows.push_back(std::move(row));
  return render_table({{}, rows}, style);
}

std::string render_cache_stats_json(const CacheView& view) {
  Json json = json_document();
  json["folder"] = view.folder;
  json["entries"] = view.stats.entries;
  json["bytes"] = view.stats.bytes;
  json["bound_bytes"] = view.limit;
  const CacheCounts& counts = view.stats.counts;
  json["last_build"] = {{"hits", counts.last_hits},
                        {"misses", counts.last_misses},
                        {"saved_milliseconds", counts.last_saved_milliseconds}};
  json["all_builds"] = {{"hits", counts.hits},
                        {"misses", counts.misses},
                        {"saved_milliseconds", counts.saved_milliseconds},
                        {"builds", counts.builds},
                        {"failed_builds", counts.failed_builds},
                        {"build_milliseconds", counts.build_milliseconds}};
  json["remote"] = counts.remote.empty() ? Json(nullptr) : remote_json(counts);
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string render_cache_removal(const CacheRemoval& removal, const std::string& folder) {
  const std::string entries =
      std::to_string(removal.entries) + (removal.entries == 1 ? " entry" : " entries");
  return "removed " + entries + " (" + human_size(removal.bytes) + ") from " + folder + "\n";
}

std::string render_cache_removal_json(const CacheRemoval& removal, const std::string& folder) {
  Json json = json_document();
  json["folder"] = folder;
  json["removed"] = {{"entries", removal.entries}, {"bytes", removal.bytes}};
  json["warnings"] = Json::array();
  return json_line(json);
}

namespace {

std::string moved_text(const TransferView& view) {
  const CacheTransfer& transfer = view.transfer;
  const bool goes = view.verb == "push" || view.verb == "export";
  if (view.verb == "pull")
    return std::to_string(transfer.uses.counts.hits) + " results came (" +
           human_size(transfer.uses.counts.received_bytes) + ")\n";
  return std::to_string(transfer.entries) + " entries " + (goes ? "went (" : "came (") +
         human_size(goes ? transfer.uses.counts.sent_bytes : transfer.uses.counts.received_bytes) + ")" +
         (transfer.lacking > 0 ? ", " + std::to_string(transfer.lacking) + " were refused" : "") + "\n";
}

}  // namespace

// All that is missing is said: it is what has to be built.
std::string render_transfer(const TransferView& view) {
  const CacheTransfer& transfer = view.transfer;
  std::string text = view.verb + ": " + moved_text(view);
  if (!transfer.uses.read_only.empty()) text += "not all of it: " + transfer.uses.read_only + "\n";
  if (transfer.edges == 0) return text;
  const std::string edges = plural(transfer.edges, "edge");
  if (transfer.missing.empty())
    return text + "the local cache has all that the " + edges + " of this plan need\n";
  text += "the local cache lacks " + std::to_string(transfer.missing.size()) + " of the results for " + edges;
  if (transfer.waiting > 0) text += ", and those of " + plural(transfer.waiting, "edge") + " that need them";
  text += ":\n";
  for (const std::string& edge : transfer.missing)
    text += "  " + edge + "\n";
  return text;
}

std::string render_transfer_json(const TransferView& view) {
  const CacheTransfer& transfer = view.transfer;
  Json json = json_document();
  json["transfer"] = view.verb;
  json["is_whole"] = transfer.is_whole();
  json["edges"] = transfer.edges;
  json["missing"] = transfer.missing;
  json["waiting"] = transfer.waiting;
  json["entries"] = transfer.entries;
  json["refused"] = transfer.lacking;
  json["remote"] = remote_uses_json(transfer.uses);
  json["warnings"] = warnings_json(view.warnings);
  return json_line(json);
}

}  // namespace dsbuild
