#include "report/json.h"
#include "report/table.h"

namespace dsbuild {
namespace {

std::string uses_text(const StoreUses& uses) {
  const unsigned long long all = uses.hits + uses.misses;
  return all == 0 ? "-" : std::to_string(uses.hits) + " of " + std::to_string(all);
}

std::string bound_text(unsigned long long limit) {
  return limit == 0 ? "nothing is kept (--cache-size 0)" : human_size(limit);
}

}  // namespace

Json store_uses_json(const StoreUses& uses) {
  return {{"hits", uses.hits}, {"misses", uses.misses}};
}

std::string render_store_stats(const StoreView& view) {
  const StoreStats& stats = view.stats;
  const std::vector<TableRow> rows = {{"folder", view.folder},
                                      {"entries", std::to_string(stats.entries)},
                                      {"size", human_size(stats.bytes)},
                                      {"bound", bound_text(view.limit)},
                                      {"hits, last build", uses_text(stats.last_build)},
                                      {"hits, all builds", uses_text(stats.all_builds)}};
  return join(render_table(rows), "\n") + "\n";
}

std::string render_store_stats_json(const StoreView& view) {
  Json json = json_document();
  json["folder"] = view.folder;
  json["entries"] = view.stats.entries;
  json["bytes"] = view.stats.bytes;
  json["bound_bytes"] = view.limit;
  json["last_build"] = store_uses_json(view.stats.last_build);
  json["all_builds"] = store_uses_json(view.stats.all_builds);
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string render_store_removal(const StoreRemoval& removal, const std::string& folder) {
  const std::string entries =
      std::to_string(removal.entries) + (removal.entries == 1 ? " entry" : " entries");
  return "removed " + entries + " (" + human_size(removal.bytes) + ") from " + folder + "\n";
}

std::string render_store_removal_json(const StoreRemoval& removal, const std::string& folder) {
  Json json = json_document();
  json["folder"] = folder;
  json["removed"] = {{"entries", removal.entries}, {"bytes", removal.bytes}};
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
