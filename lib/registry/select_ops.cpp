#include <algorithm>
#include <map>
#include <set>

#include "registry/other_packs.h"

namespace dsbuild {
namespace {

const std::string k_cpu_ops_only = "all means the CPU ops here";

bool holds_word(const std::vector<std::string>& sorted, const std::string& word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

std::vector<std::string> build_vars(const Registry& registry) {
  std::vector<std::string> variables;
  variables.reserve(registry.ops.size());
  for (const OpBuilder& op : registry.ops)
    variables.push_back(op.spec().build_var);
  return variables;
}

// What a name that is none stands for, where that is clear.
std::vector<std::string> meant_ops(const std::string& name, const Registry& registry) {
  if (to_lower(name) == "all") return {"all"};
  std::vector<std::string> meant;
  for (const OpBuilder& op : registry.ops)
    if (stands_for(name, op.name(), op.spec().build_var)) meant.push_back(op.name());
  return meant;
}

// One list may serve several versions of the sources: what there is not needs no leaving out.
Result<void> check_names(const Selection& selection, const Registry& registry) {
  for (const std::string& name : selection.names)
    if (!registry.find(name))
      return tl::unexpected<Error>(unknown_op(name, selection.origin_of(name), registry));
  for (const std::string& name : selection.without)
    if (!registry.find(name) && !registry.find_absent(name))
      return tl::unexpected<Error>(unknown_op(name, selection.origin, registry));
  return {};
}

Error not_offered(const AbsentOp& op, const std::string& where) {
  return make_error(Exit::unmet, "op_not_offered", where,
                    "there is no op '" + op.name + "' for " + op.not_for,
                    "Leave it out: it is for " + op.is_for + ".");
}

tl::unexpected<Error> op_of_other_pack(const std::string& variable, const std::string& pack,
                                       const Registry& registry) {
  return fail(Exit::unmet, "other_pack", variable,
              "its op is of pack '" + pack + "', and pack '" + registry.pack + "' is built",
              "Build that pack (--pack " + pack + "), or unset " + variable + ".");
}

// A variable of no op is another pack's, or a misspelling: harmless when it is off, an op that stays unbuilt
// when on.
Result<void> check_variables(const Selection& selection, const Registry& registry, SelectedOps& selected) {
  const std::vector<std::string> known = build_vars(registry);
  for (const auto& [variable, value] : selection.variables) {
    if (value == Switch::unset || std::find(known.begin(), known.end(), variable) != known.end()) continue;
    if (const AbsentOp* absent = registry.find_absent(variable)) {
      if (value == Switch::on) return tl::unexpected<Error>(not_offered(*absent, variable));
      continue;
    }
    const auto other = registry.other_packs.find(variable);
    if (other != registry.other_packs.end()) {
      if (value == Switch::on) return op_of_other_pack(variable, other->second.front(), registry);
      continue;  // one environment may serve several packs
    }
    const std::string what =
        "no op of pack '" + registry.pack + "' has this variable" + did_you_mean(variable, known);
    if (value == Switch::on) {
      return fail(Exit::usage, "unknown_build_var", variable, what,
                  "Unset it. Variables: " + join(known, ", ") + ".");
    }
    selected.warnings.push_back(warning("unknown_build_var", variable, what, "It has no effect; unset it."));
  }
  return {};
}

// One op at a time, before `needs`.
class Chooser {
 public:
  Chooser(const Selection& selection, bool cpu_only) : selection_(selection), cpu_only_(cpu_only) {}

  SelectedOp choose(const OpSpec& spec) const {
    if (selection_.ops_given && holds_word(selection_.without, spec.name)) return off(spec, excluded(spec));
    SelectedOp op = selection_.ops_given ? by_list(spec) : by_variables(spec);
    const bool is_kept =
        op.wanted == Wanted::off && variable(spec) != Switch::off && holds_word(selection_.kept, spec.name);
    return is_kept ? SelectedOp{spec.name, Wanted::by_name, "--add", {}} : op;
  }
  Switch variable(const OpSpec& spec) const {
    const auto found = selection_.variables.find(spec.build_var);
    return found == selection_.variables.end() ? Switch::unset : found->second;
  }
  // What says that this op is not wanted: "DS_BUILD_PIN_MEMORY=0"; "" if nothing does.
  std::string left_out_by(const OpSpec& spec) const {
    if (holds_word(selection_.without, spec.name)) return excluded(spec);
    return variable(spec) == Switch::off ? switched_off(spec) : "";
  }

 private:
  std::string excluded(const OpSpec& spec) const { return "-" + spec.name + " in " + selection_.origin; }
  static std::string switched_off(const OpSpec& spec) { return spec.build_var + "=0"; }

  // --ops itself beats an op's variable; a config file's list does not, the environment is above it.
  SelectedOp by_list(const OpSpec& spec) const {
    const bool is_off = variable(spec) == Switch::off;
    if (holds_word(selection_.names, spec.name)) {
      if (is_off && selection_.origin != "--ops") return off(spec, switched_off(spec));
      return {spec.name, Wanted::by_name, selection_.origin_of(spec.name), {}};
    }
    if (!selection_.all) return off(spec, "not in " + selection_.origin);
    if (is_off) return off(spec, switched_off(spec));
    return by_all(spec, selection_.origin);
  }
  SelectedOp by_variables(const OpSpec& spec) const {
    const Switch own = variable(spec);
    if (own == Switch::on) return {spec.name, Wanted::by_name, spec.build_var, {}};
    if (own == Switch::off) return off(spec, switched_off(spec));
    if (selection_.build_ops == Switch::on) return by_all(spec, "DS_BUILD_OPS");
    return off(spec, "not selected");
  }
  SelectedOp by_all(const OpSpec& spec, const std::string& because) const {
    const BackendKindRow& kind = kind_row(spec.backend);
    if (!kind.is_built) return off(spec, kind.key + std::string(" is not built by this version"));
    if (cpu_only_ && kind.vendor) return off(spec, k_cpu_ops_only);
    return {spec.name, Wanted::by_all, because, {}};
  }
  static SelectedOp off(const OpSpec& spec, std::string because) {
    return {spec.name, Wanted::off, std::move(because), {}};
  }

  const Selection& selection_;
  bool cpu_only_;
};

SelectedOp& entry_of(SelectedOps& selected, const std::string& name) {
  return *std::find_if(selected.ops.begin(), selected.ops.end(),
                       [&](const SelectedOp& op) { return op.name == name; });
}

void add_need(const Registry& registry, const SelectedOp& parent, const std::string& name,
              const Chooser& chooser, SelectedOps& selected) {
  const std::string left_out_by = chooser.left_out_by(registry.find(name)->spec());
  if (!left_out_by.empty()) {
    selected.warnings.push_back(warning(
        "needed_op", name,
        "it is built although it was left out (" + left_out_by + "), because " + parent.name + " needs it",
        "Leave out " + parent.name + " too, or drop the exclusion."));
  }
  entry_of(selected, name) = {name, parent.wanted, "needed by " + parent.name, parent.name};
}

// Selects what `parent` needs, as bindingly as it is itself; returns the ops whose own needs come next.
std::vector<std::string> pull_in(const Registry& registry, const SelectedOp& parent, const Chooser& chooser,
                                 SelectedOps& selected) {
  std::vector<std::string> next;
  for (const Entry<std::string>& need : registry.find(parent.name)->spec().needs) {
    SelectedOp& needed = entry_of(selected, need.value);
    if (needed.wanted == Wanted::by_name || needed.wanted == parent.wanted) continue;
    if (needed.wanted == Wanted::off) add_need(registry, parent, need.value, chooser, selected);
    needed.wanted = parent.wanted;
    next.push_back(need.value);
  }
  return next;
}

// Ops that were asked for by name go first: what they need is then asked for by name too.
void add_needs(const Registry& registry, const Chooser& chooser, SelectedOps& selected) {
  for (const Wanted wanted : {Wanted::by_name, Wanted::by_all}) {
    std::vector<std::string> open;
    for (const SelectedOp& op : selected.ops) {
      if (op.wanted == wanted) open.push_back(op.name);
    }
    for (size_t i = 0; i < open.size(); ++i) {
      const SelectedOp parent = entry_of(selected, open[i]);
      for (std::string& name : pull_in(registry, parent, chooser, selected))
        open.push_back(std::move(name));
    }
  }
}

// DS_BUILD_<OP>=0 holds under `all`: one line for all such ops.
void warn_of_left_out(const Registry& registry, const Selection& selection, const Chooser& chooser,
                      SelectedOps& selected) {
  if (!selection.ops_given || !selection.all) return;
  std::vector<std::string> variables, names;
  for (const SelectedOp& op : selected.ops) {
    const OpSpec& spec = registry.find(op.name)->spec();
    if (op.wanted != Wanted::off || chooser.variable(spec) != Switch::off) continue;
    if (holds_word(selection.without, op.name)) continue;
    variables.push_back(spec.build_var + "=0");
    names.push_back(op.name);
  }
  if (names.empty()) return;
  selected.warnings.push_back(warning("left_out_by_variable", selection.origin,
                                      join(variables, ", ") + " holds: 'all' leaves out " + join(names, ", "),
                                      "Unset it, or name the op: --ops all," + names.front() + "."));
}

}  // namespace

Error unknown_op(const std::string& name, const std::string& where, const Registry& registry) {
  if (const AbsentOp* absent = registry.find_absent(name)) return not_offered(*absent, where);
  const std::vector<std::string> names = registry.names(), meant = meant_ops(name, registry);
  const std::string what = "no op '" + printable(name) + "' in pack '" + registry.pack + "'";
  const std::string all = "Ops: " + join(names, ", ") + ".";
  const auto elsewhere = registry.elsewhere.find(name);
  if (meant.empty() && elsewhere != registry.elsewhere.end())
    return make_error(Exit::usage, "unknown_op", where, what, elsewhere->second);
  if (meant.empty())
    return make_error(Exit::usage, "unknown_op", where, what + did_you_mean(name, names), all);
  return make_error(Exit::usage, "unknown_op", where, what, "Use " + join(meant, ",") + ". " + all);
}

Result<void> check_any_selected(const Registry& registry, bool cpu_only, const SelectedOps& selected) {
  const auto is_on = [](const SelectedOp& op) { return op.wanted != Wanted::off; };
  if (std::any_of(selected.ops.begin(), selected.ops.end(), is_on)) return {};
  const auto asked_all = [](const SelectedOp& op) { return op.because == k_cpu_ops_only; };
  if (cpu_only && std::any_of(selected.ops.begin(), selected.ops.end(), asked_all)) {
    return fail(
        Exit::unmet, "nothing_to_build", "--pack",
        k_cpu_ops_only + ", and pack '" + registry.pack + "' has none that is wanted",
        "Give a CUDA toolkit (--cuda-home DIR; `dsbuild toolkits` shows what there is), or name the ops "
        "in --ops.");
  }
  const std::string example = registry.ops.empty() ? "<op>" : registry.ops.front().name();
  const std::string variable = registry.ops.empty() ? "DS_BUILD_<OP>" : registry.ops.front().spec().build_var;
  return fail(Exit::usage, "nothing_selected", "--ops", "no op is selected",
              "Select with --ops all or --ops " + example + ",…\nor with DS_BUILD_OPS=1 or " + variable +
                  "=1 in the environment.");
}

Result<SelectedOps> select_ops(const Settings& settings, const Registry& registry, bool cpu_only) {
  const Selection& selection = settings.selection;
  SelectedOps selected;
  DSBUILD_CHECK(check_names(selection, registry));
  DSBUILD_CHECK(check_variables(selection, registry, selected));
  const Chooser chooser(selection, cpu_only);
  for (const OpBuilder& op : registry.ops)
    selected.ops.push_back(chooser.choose(op.spec()));
  add_needs(registry, chooser, selected);
  warn_of_left_out(registry, selection, chooser, selected);
  return selected;
}

}  // namespace dsbuild
