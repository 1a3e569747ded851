#include "report/explain.h"

#include <algorithm>
#include <map>

#include "ninja/progress.h"

namespace dsbuild {
namespace {

std::string in_parentheses(const std::string& text) {
  return text.empty() ? "" : " (" + text + ")";
}

std::string backend_name(const OpSpec& spec) {
  return to_upper(kind_row(spec.backend).key);
}

std::string request_origin(const ExplainInput& input) {
  const Setting<ArchRequest>& arch = input.plan.settings.arch;
  if (!arch.value.is_default) return "by " + arch.origin;
  const Toolkit* toolkit = toolkit_of(input.plan.toolkits, input.builder.spec());
  return "by the default list" + (toolkit ? " of " + toolkit->short_name() : std::string());
}

// Follows one requested target through the op's own plan.
class Walk {
 public:
  Walk(const ExplainInput& input, const PlannedOp& would, const PlannedOp& planned, const Target& asked)
      : input_(input), would_(would), planned_(planned), asked_(asked) {}

  std::vector<ExplainedStep> run() {
    if (filter() && toolkit() && sources() && op_is_built()) {
      flags();
      image();
    }
    return std::move(steps_);
  }

 private:
  bool add(const std::string& stage, bool passed, std::string rule) {
    steps_.push_back({stage, passed, std::move(rule)});
    return passed;
  }

  const PlanDrop* drop_by(DroppedBy by) const {
    for (const PlanDrop& drop : would_.dropped)
      if (drop.target == asked_ && drop.by == by) return &drop;
    return nullptr;
  }

  // What is built for the target: itself, or what the op or a source makes of it.
  ArchSet built() const {
    ArchSet set;
    if (would_.archs.count(asked_) > 0) set.insert(asked_);
    for (const auto& [made, from] : would_.specialised)
      if (from == asked_ && would_.archs.count(made) > 0) set.insert(made);
    return set;
  }

  bool filter() {
    const OpSpec& spec = input_.builder.spec();
    if (asked_.vendor != vendor_of(spec))
      return add("op", false, "dropped: " + why_for_others(spec, {asked_}));
    const ArchFilter& filter = spec.archs;
    if (const PlanDrop* drop = drop_by(DroppedBy::op))
      return add("op", false, "dropped: " + drop->reason + in_parentheses(filter.origin.text));
    const ArchSet made = built();
    if (!made.empty() && made.count(asked_) == 0)
      return add("op", true, "built as " + arch_text(made) + in_parentheses("specialise"));
    return add("op", true, filter.empty() ? "kept: the op takes every arch" : "kept: " + filter.text());
  }

  bool toolkit() {
    const Toolkit* toolkit = input_.plan.toolkits.of(*asked_.vendor);
    if (!toolkit) return add("toolkit", false, "there is none");
    const PlanDrop* drop = drop_by(DroppedBy::toolkit);
    const std::string versions = toolkit->vendor().toolkits_for({asked_});
    if (drop)
      return add("toolkit", false,
                 "dropped: " + drop->reason + in_parentheses(versions.empty() ? "" : versions + " can"));
    return add("toolkit", true, toolkit->name() + " targets it");
  }

  bool sources() {
    if (const PlanDrop* drop = drop_by(DroppedBy::source))
      return add("source", false, "dropped: " + drop->reason);
    std::vector<std::string> ids;
    const ArchSet made = built();
    for (const PlannedSource& source : would_.sources)
      if (!intersection(source.archs, made).empty()) ids.push_back(source.source.id());
    if (ids.empty()) return add("source", false, "dropped: no source of the op is for it");
    tus_ = ids.size();
    return add("source", true, join(ids, ", "));
  }

  bool op_is_built() {
    return planned_.status == OpStatus::build ||
           add("image", false,
               std::string("the op is ") + (planned_.status == OpStatus::off ? "off" : "skipped"));
  }

  std::vector<std::string> ops_without(const ArchSet& targets) const {
    std::vector<std::string> names;
    for (const PlannedOp& op : input_.draft.ops)
      if (op.status == OpStatus::build && !targets_of(op.archs, *asked_.vendor).empty() &&
          intersection(op.archs, targets).empty())
        names.push_back(op.name);
    return names;
  }

  void flags() {
    const ArchSet made = built();
    if (intersection(made, input_.draft.shared) == made)
      add("flags", true, "shared: every " + backend_name(input_.builder.spec()) + " op of this build has it");
    else
      add("flags", true, "extra: not in " + join(ops_without(made), ", "));
  }

  void image() {
    const std::string library = planned_.name + ".so";
    add("image", true, target_names(built()) + " in " + library + ", from " + plural(tus_, "TU") + bundle());
  }

  std::string bundle() const {
    if (!input_.bundle) return "";
    const std::string where = input_.plan.settings.out.value.string();
    for (const ManifestOp& op : input_.bundle->ops) {
      if (op.planned_as() != planned_.name) continue;
      const bool all = difference(built(), op.archs).empty();
      return (all ? "; it is in " : "; not yet in ") + where;
    }
    return "; not yet in " + where;
  }

  const ExplainInput& input_;
  const PlannedOp& would_;
  const PlannedOp& planned_;
  const Target asked_;
  size_t tus_ = 0;
  std::vector<ExplainedStep> steps_;
};

// What a GPU gets from the op's library, where its arch was not asked for.
ExplainedTarget not_requested(const ExplainInput& input, const PlannedOp& would, const Target& target) {
  ExplainedTarget explained{
      target,
      {{"request", false,
        "not requested; " + request_origin(input) + ": " + arch_text(input.plan.requested)}}};
  const std::vector<DroppedArch> dropped = input.builder.filter_archs({target}).dropped;
  if (dropped.empty())
    explained.steps.push_back({"op", true, "would take it"});
  else
    explained.steps.push_back({"op", false,
                               "would drop it: " + dropped.front().reason +
                                   in_parentheses(input.builder.spec().archs.origin.text)});
  const Coverage coverage = coverage_of(would.archs, target.gpu());
  explained.steps.push_back({"gpu", coverage.runs != Runs::not_at_all,
                             "on a GPU of " + target.gpu().text() + ": " + coverage.text()});
  return explained;
}

// Of an op that is built for several vendors, the library for the others explains theirs.
ArchSet own_of(const ExplainInput& input, const ArchSet& targets) {
  const OpSpec& spec = input.builder.spec();
  return spec.plain_name.empty() ? targets : targets_of(targets, *vendor_of(spec));
}

std::vector<ExplainedTarget> explain_targets(const ExplainInput& input, const PlannedOp& planned) {
  const PlannedOp would = draft_op(input.plan, input.builder);
  const auto is_asked = [&](const Target& target) {
    return !input.asked || std::any_of(input.asked->begin(), input.asked->end(),
                                       [&](const Target& asked) { return asked.base() == target.base(); });
  };
  std::vector<ExplainedTarget> targets;
  const Selection& selection = input.plan.settings.selection;
  const std::string& name = input.builder.spec().op_name();
  for (const Target& target : own_of(input, selection.archs_of(name, input.plan.requested))) {
    if (!is_asked(target)) continue;
    ExplainedTarget explained{target, {{"request", true, request_origin(input)}}};
    const std::vector<ExplainedStep> steps = Walk(input, would, planned, target).run();
    explained.steps.insert(explained.steps.end(), steps.begin(), steps.end());
    targets.push_back(std::move(explained));
  }
  for (const Target& asked : own_of(input, input.asked.value_or(ArchSet{}))) {
    const bool known = std::any_of(targets.begin(), targets.end(), [&](const ExplainedTarget& one) {
      return one.target.base() == asked.base();
    });
    if (!known) targets.push_back(not_requested(input, would, asked));
  }
  return targets;
}

// A plan has the longest edges first, and times differ from build to build. What is read by people and
// compared has what an edge is made of before it, and otherwise the order of titles.
class OrderOfMaking {
 public:
  explicit OrderOfMaking(const BuildPlan& plan) : plan_(plan) {
    for (const Edge& edge : plan.edges) {
      makers_[edge.output] = &edge;
      for (const std::string& output : edge.more_outputs)
        makers_[output] = &edge;
    }
  }

  std::vector<const Edge*> edges_of(const std::string& op) {
    std::vector<const Edge*> edges;
    for (const Edge& edge : plan_.edges)
      if (is_for_op(plan_, edge, op)) edges.push_back(&edge);
    const auto place = [&](const Edge* edge) { return std::pair(depth_of(*edge), edge_title(*edge)); };
    std::sort(edges.begin(), edges.end(),
              [&](const Edge* one, const Edge* other) { return place(one) < place(other); });
    return edges;
  }

 private:
  size_t depth_of(const Edge& edge) {
    const auto known = depths_.find(&edge);
    if (known != depths_.end()) return known->second;
    size_t depth = 0;
    for (const auto* inputs : {&edge.inputs, &edge.implicit_inputs})
      for (const std::string& input : *inputs)
        if (const auto maker = makers_.find(input); maker != makers_.end())
          depth = std::max(depth, depth_of(*maker->second) + 1);
    return depths_[&edge] = depth;
  }

  const BuildPlan& plan_;
  std::map<std::string, const Edge*> makers_;
  std::map<const Edge*, size_t> depths_;
};

}  // namespace

Explanation explain_op(const ExplainInput& input) {
  Explanation explanation;
  const OpSpec& spec = input.builder.spec();
  explanation.op = spec.name;
  explanation.asked_as = spec.op_name();
  explanation.description = spec.description;
  explanation.spec = spec.file;
  explanation.has_device_code = vendor_of(spec) != nullptr;
  explanation.planned = *input.draft.find(spec.name);
  for (const SelectedOp& op : input.plan.selected.ops)
    if (op.name == spec.name) explanation.selected = op.because;
  if (explanation.planned.status == OpStatus::off)
    explanation.switch_on = "--ops " + spec.name + ", or " + spec.build_var + "=1 without --ops";
  if (const auto found = input.plan.requirements.by_op.find(spec.name);
      found != input.plan.requirements.by_op.end())
    explanation.findings = found->second;
  if (explanation.has_device_code) explanation.targets = explain_targets(input, explanation.planned);
  return explanation;
}

std::vector<ExplainedEdge> explain_edges(const BuildPlan& plan, const std::string& op,
                                         const PendingEdges& pending, const RemoteMisses& misses) {
  std::vector<ExplainedEdge> edges;
  for (const Edge* edge : OrderOfMaking(plan).edges_of(op)) {
    const auto found = pending.find(edge->output);
    const auto miss = misses.find(edge->output);
    edges.push_back({edge_title(*edge), found == pending.end() ? "" : found->second,
                     miss == misses.end() ? "" : miss->second});
  }
  return edges;
}

}  // namespace dsbuild
