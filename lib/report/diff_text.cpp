#include "driver/inventory_diff.h"
#include "ninja/progress.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

std::string shown(const InventoryChange& change, const std::string& value) {
  const auto bytes = change.is_size() ? whole_number<unsigned long long>(value) : std::nullopt;
  return bytes ? human_size(*bytes) : value;
}

// "+12.0 KiB", "-1 B".
std::string growth(const InventoryChange& change) {
  const auto before = whole_number<unsigned long long>(change.before);
  const auto after = whole_number<unsigned long long>(change.after);
  if (!change.is_size() || !before || !after) return "";
  return *after >= *before ? "+" + human_size(*after - *before) : "-" + human_size(*before - *after);
}

std::string times_text(const InventoryDiff& diff, const Style& style) {
  Table table{{"time (no difference)", "A", "B"}, {}};
  for (const InventoryTime& time : diff.times)
    table.rows.push_back({time.op.empty() ? "the whole build" : time.op,
                          seconds_text(static_cast<double>(time.before) / 1000),
                          seconds_text(static_cast<double>(time.after) / 1000)});
  return render_table(table, style);
}

}  // namespace

std::string render_inventory_diff(const InventoryDiff& diff, const Inventory& a, const Inventory& b,
                                  const Style& style) {
  if (diff.changes.empty())
    return style.good("the same") + "  " + a.path + " and " + b.path + "\n" + times_text(diff, style);
  Table table{{"op", "what", "A: " + a.path, "B: " + b.path, ""}, {}};
  for (const InventoryChange& change : diff.changes)
    table.rows.push_back(
        {change.op, change.what, shown(change, change.before), shown(change, change.after), growth(change)});
  return render_table(table, style) + times_text(diff, style) + plural(diff.changes.size(), "difference") +
         "\n";
}

std::string render_inventory_diff_json(const InventoryDiff& diff, const Inventory& a, const Inventory& b) {
  const auto value = [](const InventoryChange& change, const std::string& text) {
    const auto bytes = change.is_size() ? whole_number<uint64_t>(text) : std::nullopt;
    return bytes ? Json(*bytes) : Json(text);
  };
  Json json = json_document();
  json["a"] = {{"path", a.path}, {"kind", a.is_build ? "build" : "bundle"}};
  json["b"] = {{"path", b.path}, {"kind", b.is_build ? "build" : "bundle"}};
  json["same"] = diff.changes.empty();
  json["differences"] = Json::array();
  for (const InventoryChange& change : diff.changes)
    json["differences"].push_back({{"op", change.op},
                                   {"what", change.what},
                                   {"a", value(change, change.before)},
                                   {"b", value(change, change.after)}});
  json["times"] = Json::array();
  for (const InventoryTime& time : diff.times)
    json["times"].push_back({{"op", time.op}, {"a_ms", time.before}, {"b_ms", time.after}});
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
