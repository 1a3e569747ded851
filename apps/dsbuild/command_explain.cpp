// explain: why each arch is in an op's library or not, also where nothing could be built.
#include <algorithm>

#include "command.h"
#include "driver/due_actions.h"
#include "driver/key_sketch.h"
#include "remote/open_remote.h"
#include "report/explain.h"

namespace dsbuild {
namespace {

Result<std::optional<ArchSet>> asked_archs(const CommandContext& context, const Survey& survey) {
  const std::vector<std::string>& words = context.line.operands;
  if (words.size() < 2) return std::nullopt;
  DSBUILD_TRY(request, parse_arch_list(join({words.begin() + 1, words.end()}, " "), "ARCH"));
  const auto gpus = request.native ? archs_of_gpus(find_gpus(context.system)) : survey.selected.gpus;
  ArchSet all = request.targets;
  for (const DeviceTools& tools : survey.devices) {
    const Toolkit* toolkit = tools.toolkit();
    DSBUILD_TRY(resolved, resolve_arch_request(request_of(request, *tools.vendor), *tools.vendor,
                                               toolkit ? toolkit->targets : ArchSet{}, 0, gpus));
    all = union_of(all, resolved);
  }
  return all;
}

bool is_built(const Explanation& explanation) {
  return explanation.planned.status == OpStatus::build;
}

// Of the last build in this folder.
RemoteMisses last_misses(const Settings& settings, const FileReader& files) {
  RemoteMisses misses;
  const auto timings = load_timings(settings.build_dir.value, files);
  if (!timings || !*timings) return misses;
  for (const TimedEdge& edge : (*timings)->edges)
    if (!edge.remote_miss.empty()) misses.emplace(edge.output, edge.remote_miss);
  return misses;
}

void explain_pending(const Survey& survey, Session& session, std::vector<Explanation>& explanations) {
  if (std::ranges::none_of(explanations, is_built)) return;
  const auto plan = make_plan(survey, session);
  if (plan) {
    const Result<PendingEdges> pending = find_pending_edges(*plan, session);
    const RemoteMisses misses = last_misses(survey.settings(), session.system.files);
    for (Explanation& explanation : explanations) {
      explanation.warnings = plan->warnings;
      if (!is_built(explanation)) continue;
      if (pending)
        explanation.edges = explain_edges(plan->graph, explanation.op, *pending,
                                          with_nearest(misses, explanation.op, *plan, session));
      else
        explanation.edges_error = pending.error();
    }
    return;
  }
  for (Explanation& explanation : explanations)
    if (is_built(explanation)) explanation.obstacles.push_back(plan.error());
}

// The same faults that make_plan finds, where the op itself is not built.
void add_tool_errors(const Survey& survey, Explanation& explanation) {
  if (explanation.planned.status == OpStatus::build) return;
  for (const DeviceTools& tools : survey.devices)
    if (!tools.chosen && explanation.has_device_code) explanation.obstacles.push_back(tools.chosen.error());
  if (!survey.cxx && !explanation.has_device_code) explanation.obstacles.push_back(survey.cxx.error());
}

// Of an op that is built for several vendors' GPUs there is one for each: those that are asked about.
std::vector<const OpBuilder*> ops_called(const std::string& name, const Registry& registry,
                                         const std::optional<ArchSet>& asked) {
  if (const OpBuilder* op = registry.find(name)) return {op};
  std::vector<const OpBuilder*> all, wanted;
  for (const OpBuilder& op : registry.ops) {
    if (op.spec().op_name() != name) continue;
    all.push_back(&op);
    if (!asked || !targets_of(*asked, *vendor_of(op.spec())).empty()) wanted.push_back(&op);
  }
  return wanted.empty() ? all : wanted;
}

Result<int> run_explain(const CommandContext& context) {
  if (context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "explain", "no op given", "Usage: dsbuild explain OP [ARCH…]");
  const std::string& name = context.line.operands.front();
  DSBUILD_TRY(request, load_request(context));
  Session session(request.settings, context.system);
  DSBUILD_TRY(shared, open_remote(request.settings, session.system));
  session.share_with(std::move(shared));
  DSBUILD_TRY(survey, survey_all(std::move(request), session));
  const Registry& registry = survey.selected.registry;
  if (ops_called(name, registry, std::nullopt).empty())
    return tl::unexpected<Error>(unknown_op(name, "explain", registry));
  DSBUILD_TRY(asked, asked_archs(context, survey));
  const ArchPlanInput input = survey.arch_plan_input();
  const ArchPlan draft = draft_archs(input);
  const Result<Manifest> bundle = load_manifest(survey.settings().out.value, context.system.files);
  std::vector<Explanation> explanations;
  for (const OpBuilder* op : ops_called(name, registry, asked)) {
    explanations.push_back(explain_op({input, draft, *op, bundle ? &*bundle : nullptr, asked}));
    add_tool_errors(survey, explanations.back());
    explanations.back().warnings = survey.warnings;
  }
  explain_pending(survey, session, explanations);
  session.facts.save();
  const Settings& settings = survey.settings();
  print_warnings(explanations.front().warnings, settings, context);
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(
      settings.json.value ? render_explanations_json(explanations) : render_explanations(explanations, style),
      style));
  return 0;
}

}  // namespace

CommandRow explain_command() {
  return {.name = "explain",
          .help = "Say why each arch of an op is built or dropped, and what would run",
          .run = run_explain,
          .examples = {{"dsbuild explain fused_adam", "why each arch is in it or not"},
                       {"dsbuild explain fused_adam 8.6", "the same for one arch, and what runs on it"}},
          .uses = {{"", topics_of_plan() +
                            std::vector{Topic::bundle, Topic::proof, Topic::shared_cache, Topic::scope}}},
          .operands = Operands{"words", "OP|ARCH", "The op, and the archs to explain [all requested]"}};
}

}  // namespace dsbuild
