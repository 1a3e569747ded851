#include "driver/publish.h"

#include <algorithm>
#include <set>

#include "arch/amd.h"
#include "arch/intel.h"
#include "base/digest.h"
#include "bundle/describe.h"
#include "driver/make_statement.h"
#include "provenance/bundle_signature.h"

namespace dsbuild {
namespace {

std::string compiler_text(const HostCompiler& compiler) {
  return compiler.family + " " + compiler.version.text();
}

}  // namespace

Manifest planned_manifest(const Survey& survey, const NeededTools& needed, const ArchPlan& archs) {
  const Settings& settings = survey.settings();
  const Registry& registry = survey.selected.registry;
  Manifest manifest;
  manifest.dsbuild = k_version;
  manifest.pack = registry.pack;
  manifest.source_version = registry.source_version.text();
  manifest.license = registry.license;
  manifest.license_files = registry.license_files;
  manifest.urls = registry.urls;
  manifest.build_string = settings.build_string.value;
  if (const Toolkit* toolkit = needed.cuda()) {
    manifest.toolkit = {toolkit->version.text(), toolkit->host ? compiler_text(*toolkit->host) : "",
                        toolkit->compiler_digest};
    if (toolkit->has_option("--compress-mode"))
      manifest.compress_mode =
          settings.compress_mode.value.empty() ? "default" : settings.compress_mode.value;
  }
  if (const Toolkit* hip = needed.set().of(amd()))
    manifest.hip = {hip->version.text(), "", hip->compiler_digest};
  if (const Toolkit* icpx = needed.set().of(intel()))
    manifest.sycl = {icpx->version.text(), "", icpx->compiler_digest};
  manifest.cxx = compiler_text(needed.cxx);
  manifest.nvcc_prepend_flags = settings.nvcc_prepend_flags.value;
  manifest.nvcc_append_flags = settings.nvcc_append_flags.value;
  manifest.requested = archs.requested;
  manifest.shared = archs.shared;
  return manifest;
}

namespace {

std::string tvm_ffi_version(const RequirementReport& report, const std::string& op) {
  const auto findings = report.by_op.find(op);
  if (findings == report.by_op.end()) return "";
  for (const Finding& finding : findings->second)
    if (finding.kind == RequirementKind::tvm_ffi && finding.ok) return finding.version;
  return "";
}

// What an op's requirements ask of Python's packages, as METADATA writes it: {">=0.1.15", "<0.2"}.
std::set<std::string> tvm_ffi_clauses(const OpSpec& spec) {
  std::set<std::string> clauses;
  for (const Requirement& requirement : spec.requires_) {
    if (requirement.kind != RequirementKind::tvm_ffi) continue;
    for (const std::string& word : split(requirement.range.text, ",")) {
      const std::string clause = replace_all(trim(word), " ", "");
      clauses.insert(clause.find_first_of("<>=!~") == 0 ? clause : "==" + clause + ".*");
    }
  }
  return clauses;
}

// Of all ops that are in the bundle.
std::vector<std::string> requires_dist(const Plan& plan, const Manifest& manifest) {
  if (manifest.tvm_ffi.empty()) return {};
  std::set<std::string> clauses;
  for (const ManifestOp& op : manifest.ops)
    clauses.merge(tvm_ffi_clauses(plan.registry().find(op.planned_as())->spec()));
  return {"apache-tvm-ffi" + join({clauses.begin(), clauses.end()}, ",")};
}

bool is_python_module(const RequirementReport& report, const std::string& op) {
  const auto findings = report.by_op.find(op);
  return findings != report.by_op.end() &&
         std::any_of(findings->second.begin(), findings->second.end(),
                     [](const Finding& finding) { return finding.ok && finding.usage.python_module; });
}

ManifestTorch manifest_torch(const Torch& torch, const std::string& accelerator) {
  return {torch.version,           torch.cuda, torch.hip, torch.cxx11_abi, torch.python.tag,
          torch.python.ext_suffix, accelerator};
}

// Sources in link order: the library's containers come in the same order (bundle/verify.h).
std::vector<ManifestSource> manifest_sources(const SourceDigests& digests, const PlannedOp& op,
                                             bool device_link) {
  std::vector<ManifestSource> sources;
  for (const PlannedSource& source : op.sources)
    sources.push_back(
        {source.source.id(), digests.at(source.source.path), device_link ? ArchSet{} : source.archs});
  return sources;
}

Result<ManifestOp> manifest_op(const Plan& plan, const PlannedOp& op, const SourceDigests& digests,
                               Session& session) {
  const OpBuilder& builder = *plan.registry().find(op.name);
  const WhenContext when =
      when_context(plan.registry(), plan.survey.requirements, toolkit_of(plan.toolkits(), builder.spec()),
                   plan.survey.machine.host.machine, op.archs);
  ManifestOp entry;
  entry.name = builder.spec().op_name();
  entry.module = builder.absolute_name();
  entry.module_suffix = builder.spec().module_suffix;
  entry.backend = kind_row(builder.spec().backend).key;
  entry.file = op.name + ".so";
  entry.archs = op.archs;
  if (op.uses_cpu_level)
    entry.cpu_baseline = {plan.survey.requirements.cpu_level.name,
                          plan.survey.requirements.cpu_level.features};
  entry.exports = builder.exports(when);
  for (const std::string& need : builder.needs(when))
    entry.needs.push_back(plan.registry().find(need)->spec().op_name());
  entry.features_off = op.features_off;
  entry.device_link = makes_device_link(builder.spec());
  entry.sources = manifest_sources(digests, op, entry.device_link);
  const Path library = plan.settings().build_dir.value / library_path(op.name);
  DSBUILD_CHECK(describe_library(entry, library, session.system.files, session.build_facts, session.digests));
  return entry;
}

// Ops with a failed edge, and those that need one of them.
std::map<std::string, std::string> failed_ops(const Plan& plan, const std::vector<EdgeFailure>& failures) {
  std::map<std::string, std::string> failed;
  for (const EdgeFailure& failure : failures)
    for (const PlannedOp& op : plan.archs.ops)
      if (is_for_op(plan.graph, failure.edge, op.name)) failed.emplace(op.name, failure.first_error);
  for (bool changed = true; changed;) {
    changed = false;
    for (const PlannedOp& op : plan.archs.ops) {
      if (op.status != OpStatus::build || failed.count(op.name) > 0) continue;
      for (const auto& need : plan.registry().find(op.name)->spec().needs)
        if (failed.count(need.value) > 0)
          changed = failed.emplace(op.name, "needs " + need.value).second || changed;
    }
  }
  return failed;
}

Result<std::unique_ptr<FolderLock>> take_file_lock(const Path& file, const Path& folder,
                                                   const Request& request, Events& events) {
  return take_lock(file, request.title, std::nullopt, [&](const std::string& holder) {
    events.on_message("waiting for another dsbuild that publishes to " + folder.string() + " (" + holder +
                      ")");
  });
}

}  // namespace

// In the cache folder, where it litters nothing; beside the folder where that cannot be written, or lies on a
// disk of several nodes, which has no locks.
Result<std::unique_ptr<FolderLock>> lock_published(const Path& folder, const Request& request,
                                                   FileSystem& files, Events& events) {
  const Path out = files.absolute(folder).lexically_normal();
  const Path file = request.settings.cache_dir / "locks" / (sha256(out.string()).substr(0, 16) + ".lock");
  auto held = take_file_lock(file, folder, request, events);
  if (held || (held.error().code != "io" && held.error().code != "lock_unsupported")) return held;
  const Path place = out.has_filename() ? out : out.parent_path();
  return take_file_lock(place.parent_path() / ("." + place.filename().string() + ".dsbuild-lock"), folder,
                        request, events);
}

Result<Manifest> make_manifest(const Plan& plan, const std::vector<EdgeFailure>& failures, Session& session) {
  Manifest manifest = planned_manifest(plan.survey, plan.needed, plan.archs);
  DSBUILD_TRY(digests, digest_sources(plan.archs, plan.registry().source_root, session));
  const auto failed = failed_ops(plan, failures);
  manifest.failed.assign(failed.begin(), failed.end());
  for (const PlannedOp& op : plan.archs.ops) {
    if (op.status != OpStatus::build || failed.count(op.name) > 0) continue;
    DSBUILD_TRY(entry, manifest_op(plan, op, digests, session));
    manifest.ops.push_back(std::move(entry));
    manifest.tvm_ffi = std::max(manifest.tvm_ffi, tvm_ffi_version(plan.survey.requirements, op.name));
    if (is_python_module(plan.survey.requirements, op.name))
      manifest.torch = manifest_torch(*plan.survey.requirements.torch, plan.registry().accelerator);
  }
  manifest.requires_dist = requires_dist(plan, manifest);
  return manifest;
}

Result<Bundle> publish(const Plan& plan, const Manifest& manifest, Session& session) {
  const Settings& settings = plan.settings();
  FileSystem& files = session.system.files;
  std::vector<BundleFile> libraries;
  for (const ManifestOp& op : manifest.ops)
    libraries.push_back({settings.build_dir.value / library_path(op.planned_as()), op.file});
  const Result<std::string> published = files.read_file(settings.out.value / k_manifest_name);
  const auto before = files.read_file(settings.out.value / k_statement_name);
  const std::string statement =
      render_unless_published(make_statement(plan, manifest, session), before ? *before : "");
  const bool current = published && *published == render_manifest(manifest) && before && *before == statement;
  std::unique_ptr<FolderLock> held;
  const Path& key_file = settings.sign_key.value;
  if (!current || !key_file.empty()) {
    DSBUILD_TRY(taken, lock_published(settings.out.value, plan.survey.request, files, session.events));
    held = std::move(taken);
  }
  DSBUILD_TRY(bundle,
              publish_bundle(settings.out.value, libraries, manifest, files, session.digests, statement));
  if (key_file.empty()) return bundle;
  DSBUILD_TRY(key, load_private_key(key_file, files));
  DSBUILD_TRY(done, sign_bundle(bundle.path, key, files));
  bundle.changed = bundle.changed || done.changed;
  bundle.signed_by = done.key.id();
  return bundle;
}

}  // namespace dsbuild
