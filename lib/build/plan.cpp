#include "build/plan.h"

#include "arch/amd.h"
#include "base/build_layout.h"
#include "build/edge_costs.h"
#include "build/inventory.h"
#include "build/slicing.h"
#include "build/torch_readers.h"
#include "bundle/bundle.h"
#include "ninja/compile_commands.h"
#include "plan/backend.h"
#include "plan/hip_slices.h"
#include "plan/precompiled_header.h"
#include "toolkit/family.h"

namespace dsbuild {
namespace {

// A survey of everything may have a toolkit that nothing needs, or lack one.
Result<void> keep_needed_tools(Survey& survey) {
  for (const ToolkitDemand& demand : survey.selected.demands) {
    if (demand.is_needed) continue;
    std::erase_if(survey.devices, [&](const DeviceTools& tools) { return tools.vendor == demand.vendor; });
    survey.requested = difference(survey.requested, targets_of(survey.requested, *demand.vendor));
  }
  for (const DeviceTools& tools : survey.devices)
    if (!tools.chosen) return tl::unexpected<Error>(tools.chosen.error());
  if (!survey.cxx) return tl::unexpected<Error>(survey.cxx.error());
  return {};
}

// Those that may name files: what an op.yaml holds names none (registry/flag_rules.cpp).
Words flags_of_user(const Settings& settings) {
  Words all;
  for (const auto& flags :
       {settings.nvcc_prepend_flags, settings.nvcc_append_flags, settings.cflags, settings.ldflags})
    all.insert(all.end(), flags.value.begin(), flags.value.end());
  return all;
}

Result<void> identify_tools(Plan& plan, Session& session) {
  HostCompilerParts& hosts = plan.survey.host_parts;
  const std::string in_flags = text_of_files_in_flags(
      flags_of_user(plan.settings()), session.system.tools.folder, session.system.files, session.digests);
  DSBUILD_TRY(cxx, hosts.of(plan.cxx().path, session.system, session.facts, session.digests));
  cxx.text += in_flags;
  plan.tools.by_name[k_cxx_tool] = std::move(cxx);
  for (const Toolkit* toolkit : plan.toolkits()) {
    DSBUILD_TRY(parts, parts_of_toolkit(*toolkit, hosts, session.system, session.facts, session.digests));
    parts.text += in_flags;
    if (!parts.device_text.empty()) parts.device_text += in_flags;
    plan.tools.by_name[toolkit->family->tool] = std::move(parts);
  }
  for (auto& [name, tool] : plan.tools.by_name) {
    tool.text = plan.roots.named_lines(tool.text);
    tool.device_text = plan.roots.named_lines(tool.device_text);
    tool.folders = plan.roots.named(std::move(tool.folders));
  }
  return {};
}

// Inputs of edges that may have torch's header precompiled; looked into once for each content.
Result<std::set<std::string>> find_torch_sources(const Plan& plan, Session& session) {
  std::set<std::string> found;
  if (!plan.survey.requirements.torch) return found;
  for (const auto& [path, digest] : plan.source_digests) {
    const std::string key = "includes torch/extension.h " + digest;
    auto answer = session.build_facts.find(key, "");
    if (!answer) {
      DSBUILD_TRY(text, session.system.files.read_file(plan.registry().source_root / path));
      answer = includes_torch_header(text) ? "yes" : "no";
      session.build_facts.put(key, "", *answer);
    }
    if (*answer == "yes") found.insert(source_path(path));
  }
  return found;
}

// Always: whole commands of clang's tell of the host's code alone what it read.
void slice_hip(Plan& plan) {
  const Toolkit* hip = plan.toolkits().of(amd());
  if (!hip) return;
  for (SlicedCommand& command : slice_hip_edges(plan.graph, {hip->version.major(), hip->bundle_host}))
    plan.sliced_commands.push_back(std::move(command));
}

}  // namespace

std::vector<PlannedFile> places_of_steps(const ToolParts& tools, const Settings& settings,
                                         const FileReader& files) {
  const Path store = settings.store_size.value > 0 ? files.absolute(settings.store.value) : Path();
  std::set<std::string> folders;
  std::string telling;
  for (const auto& [name, tool] : tools.by_name) {
    folders.insert(tool.folders.begin(), tool.folders.end());
    if (tool.assembler_tells_files) telling += id_file(name) + "\n";
  }
  return {{k_store_file, store.string()},
          {k_digests_file, files.absolute(settings.cache_dir / "digests").string()},
          {k_tool_folders_file, join({folders.begin(), folders.end()}, "\n")},
          {k_assemblers_file, telling},
          {k_device_id_file, tools.of(k_nvcc_tool).device_text}};
}

Result<SourceDigests> digest_sources(const Plan& plan, Session& session) {
  SourceDigests digests;
  for (const PlannedOp& op : plan.archs.ops) {
    if (op.status != OpStatus::build) continue;
    for (const PlannedSource& source : op.sources) {
      const std::string& path = source.source.path;
      if (digests.count(path) > 0) continue;
      DSBUILD_TRY(digest, session.digests.digest(plan.registry().source_root / path));
      digests.emplace(path, digest);
    }
  }
  return digests;
}

Result<Plan> make_plan(Survey survey, Session& session) {
  DSBUILD_CHECK(session.check());
  Plan plan;
  plan.survey = std::move(survey);
  plan.warnings = plan.survey.warnings;
  const Settings& settings = plan.settings();
  if (settings.verify_against_nvcc.value)
    DSBUILD_CHECK(check_can_compare(settings.backend, settings.verify_against_nvcc.origin));
  DSBUILD_CHECK(keep_needed_tools(plan.survey));
  DSBUILD_TRY(archs, plan_archs(plan.survey.arch_plan_input()));
  plan.archs = std::move(archs);
  append(plan.warnings, plan.archs.warnings);
  plan.roots = find_roots(plan.toolkits(), plan.survey.requirements);
  DSBUILD_CHECK(identify_tools(plan, session));
  DSBUILD_TRY(digests, digest_sources(plan, session));
  plan.source_digests = std::move(digests);
  session.digests.save();
  plan.history = recall_edge_costs(plan, session);
  DSBUILD_TRY(torch_sources, find_torch_sources(plan, session));
  plan.history.torch_sources = std::move(torch_sources);
  find_torch_readers(plan, session);
  const Host& host = plan.survey.machine.host;
  plan.graph = plan_build({settings, plan.registry(), plan.survey.requirements, plan.archs, plan.toolkits(),
                           &plan.cxx(), host.machine, plan.tools, session.system.program, plan.history,
                           jobs_for(settings, host), plan.roots});
  for (PlannedFile& file : places_of_steps(plan.tools, settings, session.system.files))
    plan.graph.files.push_back(std::move(file));
  if (settings.backend.value != CudaBackend::nvcc) DSBUILD_CHECK(slice(plan, session));
  slice_hip(plan);
  put_longest_first(plan.graph.edges, plan.history, plan.registry().pack);
  plan.graph.files.push_back({k_compile_commands_file, compile_commands_of(plan, session.system.files)});
  plan.graph.files.push_back({k_plan_file, render_plan_file(plan)});
  append(plan.warnings, plan.graph.warnings);
  DSBUILD_CHECK(session.check());
  return plan;
}

Result<Plan> make_plan(Request request, Session& session) {
  DSBUILD_TRY(survey, survey_wanted(std::move(request), session));
  return make_plan(std::move(survey), session);
}

std::string compile_commands_of(const Plan& plan, const FileReader& files) {
  return render_compile_commands({plan.graph, plan.sliced_commands,
                                  files.absolute(plan.settings().build_dir.value),
                                  plan.cuda() ? plan.cuda()->home : Path()});
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
