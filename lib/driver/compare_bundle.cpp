#include "driver/compare_bundle.h"

#include "driver/build_folder.h"
#include "driver/due_actions.h"

namespace dsbuild {
namespace {

// Whether the build folder is that of the bundle, and up to date: else what is compared is not what is there.
Result<void> check_is_of_build(const Plan& plan, const Manifest& manifest, Session& session) {
  const Path& folder = plan.settings().build_dir.value;
  const DueActions due = find_due_actions(plan, plan.graph, session.system, session.digests);
  std::string why = due.empty() ? "" : due.begin()->first + ": " + due.begin()->second.text();
  for (const ManifestOp& op : manifest.ops) {
    const PlannedOp* planned = plan.archs.find(op.planned_as());
    const bool is_planned = planned && planned->status == OpStatus::build;
    const auto digest = session.digests.digest(folder / library_path(op.planned_as()));
    if (why.empty() && (!is_planned || !digest || *digest != op.sha256))
      why = op.name + " is of another build";
  }
  if (why.empty()) return {};
  return fail(Exit::failed, "not_built", folder.string(),
              "the bundle is not what a build with these options has made here: " + why,
              "Give the options of the build, and its folder with --build-dir; or build again.");
}

Difference difference_of(const EdgeFailure& failure) {
  const Edge& edge = failure.edge;
  const std::string why = failure.first_error.empty() ? "see " + failure.log.string() : failure.first_error;
  return {edge.op, edge.source, edge.op + ": " + edge.source + ": " + why};
}

}  // namespace

Result<ComparedBundle> compare_bundle(const Request& request, const Manifest& manifest, Session& session) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(plan, make_plan(request, session));
  const Settings& settings = plan.settings();
  DSBUILD_CHECK(check_can_compare(settings.backend, "verify --against-nvcc"));
  DSBUILD_TRY(ninja, find_ninja(settings, session.system, session.facts));
  DSBUILD_TRY(lock, lock_if_built(request, files));
  DSBUILD_CHECK(check_is_of_build(plan, manifest, session));
  RunLog log(settings.build_dir.value, files);
  DiagnosticCollector diagnostics = collector_for(plan, session);
  TimingsLog timings;
  DSBUILD_TRY(comparison, run_comparison({plan, ninja, *lock, log, diagnostics, timings, session}, {}));
  session.digests.save();
  session.facts.save();
  ComparedBundle result{comparison->compared, {}};
  for (const EdgeFailure& failure : merged_by_source(comparison->run.failures)) {
    session.events.on_failure(failure);
    result.differences.push_back(difference_of(failure));
  }
  return result;
}

}  // namespace dsbuild
