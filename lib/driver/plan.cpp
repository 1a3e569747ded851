#include "driver/plan.h"

#include <algorithm>

#include "arch/amd.h"
#include "base/build_layout.h"
#include "bundle/bundle.h"
#include "driver/edge_costs.h"
#include "driver/inventory.h"
#include "driver/slicing.h"
#include "driver/torch_readers.h"
#include "ninja/compile_commands.h"
#include "plan/backend.h"
#include "plan/hip_slices.h"
#include "plan/precompiled_header.h"

namespace dsbuild {
namespace {

ArchPlanInput arch_plan_input(const Survey& survey, const NeededTools& needed) {
  return {survey.settings(), survey.selected.registry, survey.selected.ops,        survey.requirements,
          needed.set(),      needed.requested,         survey.machine.host.machine};
}

// Inputs of edges that may have torch's header precompiled; looked into once for each content.
Result<std::set<std::string>> find_torch_sources(const Survey& survey, const SourceDigests& digests,
                                                 Session& session) {
  std::set<std::string> found;
  if (!survey.requirements.torch) return found;
  for (const auto& [path, digest] : digests) {
    const std::string key = "includes torch/extension.h " + digest;
    auto answer = session.build_facts.find(key, "");
    if (!answer) {
      DSBUILD_TRY(text, session.system.files.read_file(survey.selected.registry.source_root / path));
      answer = includes_torch_header(text) ? "yes" : "no";
      session.build_facts.put(key, "", *answer);
    }
    if (*answer == "yes") found.insert(source_path(path));
  }
  return found;
}

Result<EdgeHistory> recall_history(const Survey& survey, const ArchPlan& archs, const SourceDigests& digests,
                                   Session& session) {
  EdgeHistory history = recall_edge_costs(archs, survey.selected.registry, session);
  DSBUILD_TRY(torch_sources, find_torch_sources(survey, digests, session));
  history.torch_sources = std::move(torch_sources);
  TorchReaders readers = find_torch_readers(survey, archs, digests, session);
  history.torch_readers = std::move(readers.all);
  history.interface_readers = std::move(readers.of_interface);
  return history;
}

struct GraphInput {
  const Survey& survey;
  const NeededTools& needed;
  const Roots& roots;
  const ToolParts& tools;
  const ArchPlan& archs;
  const EdgeHistory& history;
};

BuildPlan graph_of_whole_commands(const GraphInput& input, const System& system) {
  const Survey& survey = input.survey;
  const Settings& settings = survey.settings();
  const Host& host = survey.machine.host;
  BuildPlan graph = plan_build({settings, survey.selected.registry, survey.requirements, input.archs,
                                input.needed.set(), &input.needed.cxx, host.machine, input.tools,
                                system.program, input.history, jobs_for(settings, host), input.roots});
  for (PlannedFile& file : places_of_steps(input.tools, settings, system.files))
    graph.files.push_back(std::move(file));
  return graph;
}

Result<SlicedGraph> slice_cuda(BuildPlan graph, const GraphInput& input, Session& session) {
  const Toolkit* cuda = input.needed.cuda();
  const Setting<CudaBackend>& backend = input.survey.settings().backend;
  if (!cuda || backend.value == CudaBackend::nvcc) return SlicedGraph{.graph = std::move(graph)};
  const SlicedTools tools = sliced_tools(*cuda, graph.tools, input.tools, input.roots, session.system);
  return slice(std::move(graph), tools, backend, session);
}

// Always: whole commands of clang's tell of the host's code alone what it read.
SlicedGraph slice_hip(SlicedGraph sliced, const NeededTools& needed) {
  const Toolkit* hip = needed.set().of(amd());
  if (!hip) return sliced;
  for (SlicedCommand& command : slice_hip_edges(sliced.graph, {hip->version.major(), hip->bundle_host}))
    sliced.commands.push_back(std::move(command));
  return sliced;
}

Result<SlicedGraph> make_graph(const GraphInput& input, Session& session) {
  DSBUILD_TRY(by_cuda, slice_cuda(graph_of_whole_commands(input, session.system), input, session));
  SlicedGraph sliced = slice_hip(std::move(by_cuda), input.needed);
  put_longest_first(sliced.graph.edges, input.history, input.survey.selected.registry.pack);
  return sliced;
}

std::string compile_commands(const SlicedGraph& sliced, const Path& build_dir, const Toolkit* cuda,
                             const FileReader& files) {
  return render_compile_commands(
      {sliced.graph, sliced.commands, files.absolute(build_dir), cuda ? cuda->home : Path()});
}

std::vector<Warning> all_warnings(const Survey& survey, const ArchPlan& archs, const SlicedGraph& sliced) {
  std::vector<Warning> all = survey.warnings;
  for (const auto* more : {&archs.warnings, &sliced.warnings, &sliced.graph.warnings})
    append(all, *more);
  return all;
}

}  // namespace

std::vector<PlannedFile> places_of_steps(const ToolParts& tools, const Settings& settings,
                                         const FileReader& files) {
  const Path store =
      settings.local_cache_size.value > 0 ? files.absolute(settings.local_cache.value) : Path();
  std::set<std::string> folders;
  std::string telling;
  for (const auto& [name, tool] : tools.by_name) {
    folders.insert(tool.folders.begin(), tool.folders.end());
    if (tool.assembler_tells_files) telling += id_file(name) + "\n";
  }
  return {{k_local_cache_file, store.string()},
          {k_digest_memo_file, files.absolute(settings.cache_dir / "digests").string()},
          {k_tool_folders_file, join({folders.begin(), folders.end()}, "\n")},
          {k_assemblers_file, telling},
          {k_device_id_file, tools.of(k_nvcc_tool).device_text}};
}

Result<SourceDigests> digest_sources(const ArchPlan& archs, const Path& source_root, Session& session) {
  SourceDigests digests;
  for (const PlannedOp& op : archs.ops) {
    if (op.status != OpStatus::build) continue;
    for (const PlannedSource& source : op.sources) {
      const std::string& path = source.source.path;
      if (digests.count(path) > 0) continue;
      DSBUILD_TRY(digest, session.digests.digest(source_root / path));
      digests.emplace(path, digest);
    }
  }
  return digests;
}

Result<Plan> make_plan(Survey survey, Session& session) {
  DSBUILD_CHECK(session.check());
  const Settings& settings = survey.settings();
  if (settings.verify_against_nvcc.value)
    DSBUILD_CHECK(check_can_compare(settings.backend, settings.verify_against_nvcc.origin));
  DSBUILD_TRY(needed, find_needed_tools(survey));
  DSBUILD_TRY(archs, plan_archs(arch_plan_input(survey, needed)));
  Roots roots = find_roots(needed.set(), survey.requirements);
  DSBUILD_TRY(tools, identify_tools(survey, needed, roots, session));
  session.facts.save();
  DSBUILD_TRY(digests, digest_sources(archs, survey.selected.registry.source_root, session));
  session.digests.save();
  DSBUILD_TRY(history, recall_history(survey, archs, digests, session));
  DSBUILD_TRY(sliced, make_graph({survey, needed, roots, tools, archs, history}, session));
  std::vector<PlannedFile>& files = sliced.graph.files;
  files.push_back({k_compile_commands_file,
                   compile_commands(sliced, settings.build_dir.value, needed.cuda(), session.system.files)});
  files.push_back(
      {k_plan_file, render_plan_file({survey, needed, archs, digests, sliced.graph, sliced.commands})});
  std::vector<Warning> warnings = all_warnings(survey, archs, sliced);
  DSBUILD_CHECK(session.check());
  return Plan{.survey = std::move(survey),
              .needed = std::move(needed),
              .roots = std::move(roots),
              .tools = std::move(tools),
              .archs = std::move(archs),
              .source_digests = std::move(digests),
              .history = std::move(history),
              .graph = std::move(sliced.graph),
              .sliced_commands = std::move(sliced.commands),
              .untested = std::move(sliced.untested),
              .warnings = std::move(warnings)};
}

Result<Plan> make_plan(Request request, Session& session) {
  DSBUILD_TRY(survey, survey_wanted(std::move(request), session));
  return make_plan(std::move(survey), session);
}

std::string compile_commands_of(const Plan& plan) {
  const auto file =
      std::ranges::find(plan.graph.files, std::string(k_compile_commands_file), &PlannedFile::path);
  return file == plan.graph.files.end() ? "" : file->content;
}

std::vector<std::string> removed_ops(const Plan& plan, const FileReader& files) {
  std::vector<std::string> removed;
  const Result<Manifest> old = load_manifest(plan.settings().out.value, files);
  if (!old) return removed;
  for (const ManifestOp& op : old->ops) {
    const PlannedOp* planned = plan.archs.find(op.planned_as());
    if (!planned || planned->status != OpStatus::build) removed.push_back(op.planned_as());
  }
  return removed;
}

Result<void> check_can_compare(const Setting<CudaBackend>& backend, const std::string& asked_by) {
  if (backend.value != CudaBackend::nvcc) return {};
  return fail(Exit::usage, "nothing_to_compare", asked_by,
              "compares slices with what nvcc makes, and --backend nvcc makes no slices",
              "Leave " + backend.origin + " nvcc out, or leave " + asked_by + " out.");
}

}  // namespace dsbuild
