#include "ninja/ninja_file.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "exec/action_key.h"
#include "ninja/quote.h"

namespace dsbuild {
namespace {

constexpr const char* k_join_rule = "cuda_join";  // of slices that others made

const char* rule_name(const Edge& edge) {
  return edge.form() == EdgeForm::slice && !edge.reads_source() ? k_join_rule : kind_row(edge.kind).word;
}

bool has_rule(const BuildPlan& plan, std::string_view rule) {
  return std::any_of(plan.edges.begin(), plan.edges.end(),
                     [&](const Edge& e) { return rule_name(e) == rule; });
}

// Of what all ops for one vendor's GPUs share.
std::string shared_variable(const BuildPlan& plan, const Vendor& vendor) {
  return vendors_of(plan.shared).size() > 1 ? "shared_" + std::string(vendor.name()) : "shared";
}

// Every pair that some edge uses, once, in canonical order; then what all CUDA ops share.
std::string gencode_section(const BuildPlan& plan) {
  ArchSet used = plan.shared;
  for (const Edge& edge : plan.edges)
    used = union_of(used, edge.targets);
  std::string text;
  for (const Target& target : used)
    text += plain_word(target) + " = " + ninja_word(target.flag()) + "\n";
  for (const Vendor* vendor : vendors_of(plan.shared)) {
    text += shared_variable(plan, *vendor) + " =";
    for (const Target& target : targets_of(plan.shared, *vendor))
      text += " $" + plain_word(target);
    text += "\n";
  }
  return plan.shared.empty() ? text : text + "\n";
}

// The set in canonical order, `$shared` standing for its members where they are neighbours: so an op's
// expanded command does not depend on which other ops there are.
std::string gencode_value(const BuildPlan& plan, const Edge& edge) {
  const std::vector<Target> order(edge.targets.begin(), edge.targets.end());
  const Vendor& vendor = *order.front().vendor;
  const ArchSet shared = edge.is_part() ? ArchSet() : targets_of(plan.shared, vendor);  // a part has one arch
  const auto run = std::search(order.begin(), order.end(), shared.begin(), shared.end());
  std::string text;
  for (auto at = order.begin(); at != order.end();) {
    if (!shared.empty() && at == run) {
      text += " $" + shared_variable(plan, vendor);
      at += static_cast<std::ptrdiff_t>(shared.size());
    } else {
      text += " $" + plain_word(*at);
      ++at;
    }
  }
  return text;
}

std::string program_line(const char* name, const std::vector<std::string>& program) {
  return program.empty() ? "" : std::string(name) + " = " + ninja_program(program) + "\n";
}

// Every edge is an action of dsbuild's, which knows by its record whether there is anything to do. What it
// makes stays as it is where nothing new came out, and then Ninja goes no further (restat). `exec`: Ninja's
// shell would stay otherwise, and dash loses a SIGINT that comes while it starts its child.
std::string rule(const std::string& name, const std::string& words, const std::string& more = "") {
  return "rule " + name + "\n  command = exec $dsbuild action " + words + "\n" + more +
         "  restat = 1\n  description = $out\n";
}

std::string compile_words(const EdgeKindRow& row) {
  const bool is_cxx = row.kind == EdgeKind::cxx_compile;
  return std::string("run $tools $out") + (is_cxx ? " $known_by" : "") + " -- $" + row.tool + " $flags " +
         (is_cxx ? "" : "$gencode ") + join(depfile_flags(row.kind, "$out"), " ") + " -c $in -o $out.tmp";
}

std::string rule(const EdgeKindRow& row) {
  const std::string tool = std::string("$") + row.tool;
  switch (row.form) {
    case EdgeForm::compile:
      return rule(row.word, compile_words(row));
    case EdgeForm::slice:
      return rule(row.word, "slice $tools $out $step -- $in $gencode");
    case EdgeForm::bundle:
      return rule(row.word, "bundle $tools $out $in -- " + tool + " $flags");
    case EdgeForm::hipify:
      return rule(row.word, "hipify $tools $out -- " + tool + " $flags $in");
    case EdgeForm::comparison:
      return rule(row.word, "compare $tools $out $in");
    case EdgeForm::verify:
      return rule(row.word, "verify $tools $out $in");
    case EdgeForm::link:
      // nvcc reads no such list. It is written for our records all the same.
      return rule(row.word,
                  "run $tools $out -- " + tool + " -o $out.tmp " +
                      (row.kind == EdgeKind::cuda_link ? "$in" : "@$out.rsp") + " $flags",
                  "  rspfile = $out.rsp\n  rspfile_content = $in_newline\n");
  }
  return "";
}

std::string rules_section(const BuildPlan& plan) {
  std::string text;
  for (const auto& [name, words] : plan.tools.all)
    text += program_line(name.c_str(), words);
  for (const EdgeKindRow& row : edge_kinds()) {
    if (has_rule(plan, row.word)) text += "\n" + rule(row);
    if (row.form == EdgeForm::slice && has_rule(plan, k_join_rule))
      text += "\n" + rule(k_join_rule, "slice $tools $out $step -- $flags");
  }
  return text;
}

// "\n# fused_adam  # extra: sm_70\n": opens an op's own edges.
std::string op_heading(const BuildPlan& plan, const std::string& op) {
  ArchSet extra;
  for (const Edge& edge : plan.edges)
    if (edge.op == op) extra = union_of(extra, difference(edge.targets, plan.shared));
  return "\n# " + op + (extra.empty() ? "" : "  # extra: " + target_names(extra)) + "\n";
}

std::string edge_text(const BuildPlan& plan, const Edge& edge) {
  std::string text = "build " + ninja_path(edge.output);
  text += " | " + ninja_path(record_file(edge.output));
  text += ninja_paths(edge.more_outputs) + ": " + rule_name(edge) + ninja_paths(edge.inputs);
  if (!edge.implicit_inputs.empty()) text += " |" + ninja_paths(edge.implicit_inputs);
  if (!edge.after.empty()) text += " || " + ninja_path(edge.after);
  text += "\n  tools = " + ninja_word(tools_file(edge)) + "\n";
  if (edge.by_host_compiler) text += "  cxx = $host_cxx\n";
  if (!edge.flags.empty()) text += "  flags = " + ninja_words(edge.flags) + "\n";
  if (!edge.step_file.empty()) text += "  step = " + ninja_word(edge.step_file) + "\n";
  if (edge.is_shared) text += std::string("  known_by = ") + k_known_by_text + "\n";
  if (!edge.targets.empty()) text += "  gencode =" + gencode_value(plan, edge) + "\n";
  return text;
}

Result<void> refuse(const Edge& edge, const std::string& word, const std::string& reason) {
  return fail(Exit::usage, "bad_name", edge.op,
              "'" + printable(word) + "' holds " + reason + ", which Ninja cannot carry", "Rename it.");
}

Result<void> check_words(const Edge& edge) {
  for (const auto& paths : {edge.inputs, edge.implicit_inputs, edge.more_outputs, {edge.output}})
    for (const std::string& path : paths)
      if (const std::string reason = ninja_path_refusal(path); !reason.empty())
        return refuse(edge, path, reason);
  for (const std::string& flag : edge.flags)
    if (const std::string reason = ninja_refusal(flag); !reason.empty()) return refuse(edge, flag, reason);
  return {};
}

// Ninja hands sh a whole command as one argument, which Linux limits to 128 KiB; one that is longer would end
// Ninja itself.
Result<void> check_length(const BuildPlan& plan, const Edge& edge) {
  constexpr size_t k_longest_command = 100'000;
  const size_t length = shell_join(edge_argv(plan, edge)).size();
  if (length <= k_longest_command) return {};
  return fail(Exit::usage, "command_too_long", edge.op + (edge.source.empty() ? "" : ": " + edge.source),
              "its command is too long: " + std::to_string(length) + " bytes, at most " +
                  std::to_string(k_longest_command) + " can be run",
              "Give it fewer or shorter defines, include folders and flags.");
}

}  // namespace

Result<std::string> render_ninja(const BuildPlan& plan) {
  for (const Edge& edge : plan.edges) {
    DSBUILD_CHECK(check_words(edge));
    DSBUILD_CHECK(check_length(plan, edge));
  }
  std::string text =
      "# Written by dsbuild from its plan; `dsbuild plan` explains it.\nninja_required_version = 1.11\n\n";
  text += gencode_section(plan);
  text += rules_section(plan);
  text += "\n# compile, the longest first\n";
  std::string goals = ninja_paths(plan.goals);
  for (const Edge& edge : plan.edges) {
    if (edge.kind == EdgeKind::link) text += op_heading(plan, edge.op);
    text += edge_text(plan, edge);
    const bool is_check = edge.kind == EdgeKind::verify || edge.kind == EdgeKind::comparison;
    if (is_check && plan.goals.empty()) goals += " " + ninja_path(edge.output);
  }
  return text + "\nbuild all: phony" + goals + "\ndefault all\n";
}

}  // namespace dsbuild
