#include "driver/edge_failure.h"

#include <algorithm>

#include "base/build_layout.h"
#include "bundle/verify.h"
#include "ninja/progress.h"
#include "nvcc/run_step.h"
#include "sys/limits.h"

namespace dsbuild {
namespace {

std::string log_name(const Edge& edge) {
  std::string name =
      edge.op + (edge.source.empty() ? "" : "." + edge.source) + "." + Path(edge.output).filename().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return !(std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-');
      },
      '_');
  return name + ".log";
}

// The same command, in the same folder, with the same variables: from anywhere.
std::string reproduce_command(const std::string& command, const Path& folder,
                              const Environment& environment) {
  std::string text = "cd " + shell_quote(folder.string()) + " && env -i";
  for (const auto& [name, value] : environment)
    text += " " + shell_quote(name + "=" + value);
  return text + " sh -c " + shell_quote(command);
}

// A symbol that the linker misses is most often one of a source that no arch of the request is for.
std::string link_hint(const EdgeFailure& failure, const ArchPlan& archs) {
  const PlannedOp* op = archs.find(failure.edge.op);
  const bool misses_symbol = failure.first_error.find("undefined reference") != std::string::npos;
  if (failure.edge.kind != EdgeKind::link || !misses_symbol || !op || op->left_out.empty()) return "";
  return join(op->left_out, ", ") + " is left out for " + arch_text(op->archs) +
         "; guard calls into it with a define that has `when: {any_arch: …}`.";
}

bool names_missing_export(const std::string& output, const std::string& symbol) {
  const std::string text = k_does_not_export + symbol;
  for (const std::string& line : split_lines(output)) {
    const size_t at = line.find(text);
    const std::string rest = at == line.npos ? symbol : line.substr(at + text.size());
    if (rest.empty() || rest[0] == ':' || rest[0] == ' ') return true;
  }
  return false;
}

// Where an op.yaml names the symbol that its library does not export: "pack/op/op.yaml:7:11"; "": that is not
// what failed.
std::string place_of_export(const EdgeFailure& failure, const std::string& output, const Registry& registry) {
  const OpBuilder* op = registry.find(failure.edge.op);
  if (failure.edge.kind != EdgeKind::verify || !op) return "";
  for (const Entry<std::string>& symbol : op->spec().exports)
    if (names_missing_export(output, symbol.value)) return symbol.origin.text;
  return "";
}

// Not every tool gives the reason for which it could not write: gcc's "could not close temporary response
// file".
std::string space_hint(const FailureContext& context) {
  constexpr uint64_t k_too_little = 16 << 20;
  const auto free = context.files.free_bytes(context.build_dir);
  if (!free || *free >= k_too_little) return "";
  return human_size(*free) + " are left on the disk of " + context.build_dir.string() +
         ": make room, or build elsewhere with --build-dir.";
}

std::string hint_of(const EdgeFailure& failure, const std::string& output, const FailureContext& context) {
  if (const std::string hint = space_hint(context); !hint.empty()) return hint;
  if (const std::string limit = limit_named_in(output); !limit.empty()) return limit;
  if (failure.edge.kind == EdgeKind::comparison)
    return "Build with --backend nvcc, and report it with the log and the source.";
  if (const std::string place = place_of_export(failure, output, context.registry); !place.empty())
    return place + " names it: correct it there, or define it in a source.";
  return link_hint(failure, context.archs);
}

// The last line of a slice that failed.
std::string nvcc_alone(const std::string& output, const Path& folder) {
  const size_t place = output.rfind(k_nvcc_alone);
  if (place == std::string::npos) return "";
  return "cd " + shell_quote(folder.string()) + " && " + trim(output.substr(place + k_nvcc_alone.size()));
}

bool names_an_error(const std::string& output) {
  const std::vector<Diagnostic> all = parse_diagnostics(output);
  return std::any_of(all.begin(), all.end(),
                     [](const Diagnostic& one) { return one.severity == Severity::error; });
}

}  // namespace

std::set<std::string> ops_of(const std::vector<EdgeFailure>& failures) {
  std::set<std::string> ops;
  for (const EdgeFailure& failure : failures)
    ops.insert(failure.edge.op);
  return ops;
}

std::vector<EdgeFailure> merged_by_source(const std::vector<EdgeFailure>& failures) {
  std::vector<EdgeFailure> merged;
  for (const EdgeFailure& failure : failures) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const EdgeFailure& other) {
      return !failure.edge.source.empty() && other.edge.op == failure.edge.op &&
             other.edge.source == failure.edge.source;
    });
    if (same == merged.end())
      merged.push_back(failure);
    else
      same->targets.insert(failure.targets.begin(), failure.targets.end());
  }
  return merged;
}

EdgeFailure describe_failure(const FinishedEdge& ended, const FailureContext& context) {
  EdgeFailure failure;
  failure.edge = *ended.edge;
  failure.targets = ended.edge->targets;
  const std::string first_error = first_error_line(ended.output);
  failure.first_error = context.paths.text(first_error);
  if (const auto place = parse_place(first_error))
    failure.place = {context.paths.path(place->file), place->line, place->column};
  if (const auto place = parse_place(place_of_export(failure, ended.output, context.registry)))
    failure.place = *place;
  failure.is_told = names_an_error(ended.output);
  failure.hint = hint_of(failure, ended.output, context);
  failure.log = context.build_dir / k_log_folder / log_name(*ended.edge);
  failure.reproduce = reproduce_command(ended.command, context.build_dir, context.environment);
  if (ended.edge->kind == EdgeKind::cuda_slice) failure.nvcc = nvcc_alone(ended.output, context.build_dir);
  // A log that cannot be written must not hide the failure itself.
  (void)context.files.write_file(failure.log, failure.reproduce + "\n\n" + ended.output +
                                                  (failure.nvcc.empty() ? "" : failure.nvcc + "\n"));
  return failure;
}

}  // namespace dsbuild
