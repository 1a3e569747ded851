// explain: why each arch is in an op's library or not, also where nothing could be built.
#include "due_actions.h"
#include "report/explain.h"

namespace dsbuild {
namespace {

Result<std::optional<ArchSet>> asked_archs(const CommandContext& context, const Stages& stages) {
  const std::vector<std::string>& words = context.line.operands;
  if (words.size() < 2) return std::nullopt;
  DSBUILD_TRY(request, parse_arch_list(join({words.begin() + 1, words.end()}, " "), "ARCH"));
  const ArchSet targets = stages.toolkit ? stages.toolkit->targets : ArchSet{};
  const auto gpus = request.native ? capabilities_of(find_gpus(context.system)) : stages.selected.gpus;
  DSBUILD_TRY(resolved, resolve_arch_request(request, targets, 0, gpus));
  return resolved;
}

void explain_pending(Stages& stages, const CommandContext& context, Explanation& explanation) {
  if (explanation.planned.status != OpStatus::build) return;
  if (const auto planned = complete_plan(stages, SelfTest::recall, context); !planned) {
    explanation.obstacles.push_back(planned.error());
    return;
  }
  const Result<PendingEdges> pending = find_pending_edges(stages, context);
  if (!pending)
    explanation.edges_error = pending.error();
  else
    explanation.edges = explain_edges(stages.build, explanation.op, *pending);
}

// The same faults that complete_plan finds, where the op itself is not built.
void add_tool_errors(const Stages& stages, Explanation& explanation) {
  if (explanation.planned.status == OpStatus::build) return;
  if (stages.toolkit_error && explanation.backend == BackendKind::cuda)
    explanation.obstacles.push_back(*stages.toolkit_error);
  if (stages.cxx_error && explanation.backend == BackendKind::cpu)
    explanation.obstacles.push_back(*stages.cxx_error);
}

}  // namespace

Result<int> run_explain(const CommandContext& context) {
  if (context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "explain", "no op given", "dsbuild explain OP [ARCH]");
  const std::string& name = context.line.operands.front();
  DSBUILD_TRY(stages, survey_stages(context));
  const OpBuilder* builder = stages.selected.registry.find(name);
  if (!builder) return tl::unexpected<Error>(unknown_op(name, "explain", stages.selected.registry));
  DSBUILD_TRY(asked, asked_archs(context, stages));
  const ArchPlanInput input = arch_plan_input(stages);
  const ArchPlan draft = draft_archs(input);
  const Result<Manifest> bundle = load_manifest(stages.base.settings.out.value, context.system.files);
  Explanation explanation = explain_op({input, draft, *builder, bundle ? &*bundle : nullptr, asked});
  add_tool_errors(stages, explanation);
  explain_pending(stages, context, explanation);
  explanation.warnings = stages.warnings;
  stages.base.user_facts->save();
  const Settings& settings = stages.base.settings;
  print_warnings(explanation.warnings, settings, context);
  DSBUILD_CHECK(print_result(settings.json.value
                                 ? render_explanation_json(explanation)
                                 : render_explanation(explanation, style_for(settings, context, false))));
  return 0;
}

}  // namespace dsbuild
