#include "bundle/gate.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

// "gamma (compute_90)"
std::string compiled_text(const OpCoverage& op) {
  return op.name + " (" + op.coverage.by->name() + ")";
}

// "gamma (it has 8.0 9.0)"
std::string lack_text(const OpCoverage& op) {
  const std::string which = op.modules > 1 ? "its module " + std::to_string(op.coverage.module + 1) : "it";
  return op.name + " (" + which + " has " + arch_text(op.has) + ")";
}

// The ops that a GPU runs so.
struct Listed {
  std::string count;  // "2 of 3 ops"; "" for none
  std::string names;  // "beta (…), gamma (…)"
};
Listed listed(const GpuCoverage& gpu, Runs runs, const char* noun, std::string (*text)(const OpCoverage&)) {
  std::vector<std::string> texts;
  for (const OpCoverage& op : gpu.ops)
    if (op.coverage.runs == runs) texts.push_back(text(op));
  if (texts.empty()) return {};
  return {std::to_string(texts.size()) + " of " + plural(gpu.ops.size(), noun), join(texts, ", ")};
}

void judge_lack(const Gate& gate, const GpuCoverage& gpu, const Gated& gated, Verdict& verdict) {
  const Listed lacking = listed(gpu, Runs::not_at_all, gated.noun, lack_text);
  if (!gpu.ops.empty() && lacking.count.empty()) return;
  const std::string name = gpu.gpu.text();
  const std::string what = gpu.ops.empty()
                               ? "nothing here has code for GPUs, so none for GPU " + name
                               : "GPU " + name + " cannot run " + lacking.count + ": " + lacking.names;
  Error error = make_error(Exit::failed, "gpu_not_covered", gated.where, what,
                           "Build for it too: add " + name + " to --arch.");
  if (gate.is_strict)
    verdict.failures.push_back(std::move(error));
  else
    verdict.warnings.push_back({std::move(error)});
}

void judge_driver(const Gate& gate, const GpuCoverage& gpu, const Gated& gated, Verdict& verdict) {
  const Listed compiled = listed(gpu, Runs::by_driver, gated.noun, compiled_text);
  if (compiled.count.empty()) return;
  const std::string name = gpu.gpu.text();
  const std::string what =
      "GPU " + name + " runs " + compiled.count + " only by its driver's compiler: " + compiled.names;
  const std::string fix =
      "That takes time at the first load, and a driver that is new enough. For machine code add " + name +
      " to --arch.";
  if (gate.forbids_ptx_only)
    verdict.failures.push_back(make_error(Exit::failed, "ptx_only", gated.where, what, fix));
  else
    verdict.warnings.push_back(warning("gpu_by_driver", gated.where, what, fix));
}

// Code that every GPU has to compile by its driver, whichever GPUs are asked about.
void judge_machine_code(const Gate& gate, const Gated& gated, Verdict& verdict) {
  if (!gate.forbids_ptx_only) return;
  std::vector<std::string> names;
  for (const GatedLibrary& library : gated.libraries) {
    const auto is_virtual = [](const Target& target) { return target.is_virtual(); };
    const bool lacks_code = std::ranges::any_of(library.modules, [&](const ArchSet& module) {
      return !module.empty() && std::ranges::all_of(module, is_virtual);
    });
    if (lacks_code) names.push_back(library.name);
  }
  if (names.empty()) return;
  verdict.failures.push_back(
      make_error(Exit::failed, "ptx_only", gated.where,
                 plural(names.size(), gated.noun) + " without machine code for any GPU: " + join(names, ", "),
                 "Name real architectures in --arch: 8.0 and not 8.0-virtual."));
}

// Exact, for a bundle may be a byte too large.
std::string size_text(uint64_t bytes) {
  return std::to_string(bytes) + " B (" + human_size(bytes) + ")";
}

Error too_large(const Gated& gated, const std::string& what, uint64_t bytes, uint64_t most) {
  return make_error(
      Exit::failed, "too_large", gated.where,
      what + ": " + size_text(bytes) + ", where " + size_text(most) + " is allowed",
      "The command page shows what takes the room. Name fewer archs or ops, try --compress-mode size, "
      "or allow more.");
}

uint64_t most_of(const Gate& gate, const GatedLibrary& library) {
  for (const std::string& name : {library.op, library.name})
    if (const auto own = gate.max_of.find(name); own != gate.max_of.end()) return own->second;
  return gate.max_op_bytes;
}

Result<void> check_names(const Gate& gate, const Gated& gated) {
  std::vector<std::string> known;
  for (const GatedLibrary& library : gated.libraries)
    known.push_back(library.name);
  for (const auto& [name, most] : gate.max_of) {
    const bool is_there =
        std::ranges::any_of(gated.libraries, [&, &wanted = name](const GatedLibrary& library) {
          return library.op == wanted || library.name == wanted;
        });
    if (!is_there)
      return fail(Exit::usage, "unknown_op", "--max-op-size",
                  "there is no " + std::string(gated.noun) + " '" + printable(name) + "' in " + gated.where +
                      did_you_mean(name, known),
                  "Name one that is there: " + join(known, ", ") + ".");
  }
  return {};
}

void judge_sizes(const Gate& gate, const Gated& gated, Verdict& verdict) {
  for (const GatedLibrary& library : gated.libraries) {
    verdict.bytes += library.bytes;
    const uint64_t most = most_of(gate, library);
    if (most > 0 && library.bytes > most)
      verdict.failures.push_back(too_large(gated, library.name + " is too large", library.bytes, most));
  }
  if (gate.max_bytes > 0 && verdict.bytes > gate.max_bytes)
    verdict.failures.push_back(
        too_large(gated, plural(gated.libraries.size(), gated.noun) + " together are too large",
                  verdict.bytes, gate.max_bytes));
}

}  // namespace

bool Gate::asks() const {
  return !gpus.empty() || forbids_ptx_only || max_bytes > 0 || max_op_bytes > 0 || !max_of.empty();
}

Gated gated(const Manifest& manifest, const std::string& where) {
  Gated gated{where, "op", {}};
  for (const ManifestOp& op : manifest.ops)
    gated.libraries.push_back({op.name, op.planned_as(), op.bytes, op.modules()});
  return gated;
}

Runs GpuCoverage::runs() const {
  Runs worst = ops.empty() ? Runs::not_at_all : Runs::natively;
  for (const OpCoverage& op : ops)
    worst = std::max(worst, op.coverage.runs);
  return worst;
}

GpuCoverage coverage_of_libraries(const std::vector<GatedLibrary>& libraries, const Target& gpu) {
  GpuCoverage result{gpu, {}};
  for (const GatedLibrary& library : libraries) {
    const auto has_code = [](const ArchSet& module) { return !module.empty(); };
    if (std::ranges::none_of(library.modules, has_code)) continue;
    const Coverage coverage = coverage_of_modules(library.modules, gpu);
    const OpCoverage own{library.op, library.name, coverage,
                         static_cast<size_t>(std::ranges::count_if(library.modules, has_code)),
                         library.modules.at(coverage.module)};
    const auto same = std::ranges::find(result.ops, library.op, &OpCoverage::op);
    if (same == result.ops.end())
      result.ops.push_back(own);
    else if (coverage.runs < same->coverage.runs)
      *same = own;
  }
  return result;
}

Result<Verdict> judge_gpus(const Gate& gate, const Gated& gated) {
  DSBUILD_CHECK(check_names(gate, gated));
  Verdict verdict;
  for (const Target& gpu : gate.gpus) {
    verdict.gpus.push_back(coverage_of_libraries(gated.libraries, gpu));
    judge_lack(gate, verdict.gpus.back(), gated, verdict);
    judge_driver(gate, verdict.gpus.back(), gated, verdict);
  }
  judge_machine_code(gate, gated, verdict);
  return verdict;
}

Result<Verdict> judge(const Gate& gate, const Gated& gated) {
  DSBUILD_TRY(verdict, judge_gpus(gate, gated));
  judge_sizes(gate, gated, verdict);
  return verdict;
}

Error one_of(const std::vector<Error>& failures) {
  Error error = failures.front();
  for (size_t i = 1; i < failures.size(); ++i)
    error.what += "\n" + failures[i].what;
  return error;
}

}  // namespace dsbuild
