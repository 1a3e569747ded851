#include "driver/shard_plan.h"

#include <algorithm>
#include <cmath>

#include "base/build_layout.h"
#include "base/digest.h"
#include "bundle/json_cursor.h"
#include "driver/inventory_diff.h"

namespace dsbuild {
namespace {

constexpr uint64_t k_schema = 1;

// Files that say what a tool is, by content.
bool says_what_a_tool_is(const std::string& path) {
  return path.starts_with("tools/") && path.ends_with(".id");
}

Json tools_json(const BuildPlan& graph) {
  std::map<std::string, std::string> tools;
  for (const PlannedFile& file : graph.files)
    if (says_what_a_tool_is(file.path)) tools[Path(file.path).stem().string()] = sha256(file.content);
  Json json = Json::object();
  for (const auto& [tool, digest] : tools)
    json[tool] = digest;
  return json;
}

// One word for how files are compiled: by slices or whole.
Json edges_json(const BuildPlan& graph) {
  std::vector<std::string> outputs;
  for (const Edge& edge : graph.edges)
    if (is_shared_out(edge)) outputs.push_back(edge.output);
  std::ranges::sort(outputs);
  return {{"number", outputs.size()}, {"sha256", sha256(join(outputs, "\n"))}};
}

Json made_of(const BuildPlan& graph) {
  const auto file = std::ranges::find(graph.files, std::string(k_plan_file), &PlannedFile::path);
  return {{"plan", Json::parse(file->content).value_or(Json())},
          {"tools", tools_json(graph)},
          {"compile_edges", edges_json(graph)}};
}

// Those of sources alone: what was measured here is not what was measured elsewhere.
EdgeHistory static_costs(EdgeHistory history) {
  history.measured.clear();
  return history;
}

std::string text_of(const Json* json) {
  return !json ? "none" : json->text() ? *json->text() : json->dump();
}

class PlanDifferences {
 public:
  PlanDifferences(const Json& there, const Json& here) : there_(there), here_(here) {}

  std::vector<std::string> find() {
    of_plan();
    of_tools();
    if (texts_.empty()) note("compile edges", number(there_), number(here_));
    return std::move(texts_);
  }

 private:
  void note(const std::string& what, const std::string& there, const std::string& here) {
    if (there != here) texts_.push_back(what + ": " + there + " there, " + here + " here");
  }

  static std::string short_text(const std::string& text) {
    constexpr size_t k_most = 60;
    if (text.empty()) return "none";
    return text.size() <= k_most ? text : text.substr(0, k_most) + "…";
  }

  void of_plan() {
    const Json *there = there_.find("plan"), *here = here_.find("plan");
    const auto before = parse_plan_file(there ? there->dump() : "", "");
    const auto after = parse_plan_file(here ? here->dump() : "", "");
    if (!before || !after) return;
    for (const InventoryChange& change : compare(*before, *after).changes)
      note((change.op.empty() ? "" : change.op + ": ") + change.what, short_text(change.before),
           short_text(change.after));
  }

  void of_tools() {
    const Json *there = there_.find("tools"), *here = here_.find("tools");
    if (!there || !here || !here->members()) return;
    for (const JsonMember& tool : *here->members())
      note("tool " + tool.key, "SHA-256 " + text_of(there->find(tool.key)).substr(0, 12),
           "SHA-256 " + text_of(&tool.value).substr(0, 12));
  }

  // Of equal plans files are compiled in different ways: --backend, or a toolkit whose slices were refused.
  static std::string number(const Json& made_of) {
    const Json* edges = made_of.find("compile_edges");
    return text_of(edges ? edges->find("number") : nullptr);
  }

  const Json &there_, &here_;
  std::vector<std::string> texts_;
};

tl::unexpected<Error> differs(const std::string& file, const std::string& what) {
  return fail(
      Exit::usage, "shard_plan_differs", file, what,
      "Give all shards and the merge the same ops, archs, sources, flags, toolkit and number of shards. "
      "If this machine is right, remove the file and start all shards again.");
}

ShardPlan read_shard_plan(const JsonCursor& top) {
  if (top.at("schema").number() != k_schema) top.at("schema").refuse("is not 1: another version wrote it");
  ShardPlan plan;
  plan.digest = top.at("plan").text();
  for (const JsonCursor& item : top.at("shards").items()) {
    Shard shard;
    shard.milliseconds = static_cast<int64_t>(item.at("milliseconds").number());
    shard.outputs = item.at("outputs").texts();
    plan.shards.push_back(std::move(shard));
  }
  return plan;
}

}  // namespace

ShardPlan cut_plan(const Plan& plan, size_t shards) {
  const EdgeHistory costs = static_costs(plan.history);
  const auto milliseconds = [&](const Edge& edge) -> int64_t {
    return std::llround(expected_cost(costs, plan.registry().pack, edge).seconds * 1000);
  };
  ShardPlan cut;
  cut.made_of = made_of(plan.graph);
  cut.digest = sha256(cut.made_of.dump());
  cut.shards = cut_into_shards(plan.graph, milliseconds, shards);
  return cut;
}

std::string render_shard_plan(const ShardPlan& plan) {
  Json json = {{"schema", k_schema}, {"plan", plan.digest}, {"shards", Json::array()}};
  for (const Shard& shard : plan.shards)
    json["shards"].push_back({{"milliseconds", shard.milliseconds}, {"outputs", shard.outputs}});
  json["made_of"] = plan.made_of;
  return json_text(json);
}

Result<ShardPlan> parse_shard_plan(const std::string& json, const std::string& file) {
  const std::optional<Json> document = Json::parse(json);
  auto plan = read_json<ShardPlan>(json, "bad_shard_plan", file, read_shard_plan);
  if (!plan)
    return fail(Exit::usage, "bad_shard_plan", file, plan.error().what,
                "Remove it: the next shard with --shard-plan writes it.");
  if (const Json* made_of = document->find("made_of")) plan->made_of = *made_of;
  return plan;
}

Result<void> check_same_plan(const ShardPlan& here, const ShardPlan& there, const std::string& file) {
  if (here.digest != there.digest) {
    constexpr size_t k_shown = 3;
    std::vector<std::string> texts = PlanDifferences(there.made_of, here.made_of).find();
    const size_t more = texts.size() - std::min(texts.size(), k_shown);
    texts.resize(std::min(texts.size(), k_shown));
    return differs(file, "it is of another plan: " + join(texts, "; ") +
                             (more > 0 ? "; and " + std::to_string(more) + " more" : ""));
  }
  if (here.shards.size() == there.shards.size()) return {};
  return differs(file, "it has " + plural(there.shards.size(), "shard") + ", and this is one of " +
                           std::to_string(here.shards.size()));
}

}  // namespace dsbuild
