// What the next build would run, of one op or of all: Ninja's dry run of the plan, in the build folder of the
// last build.
#include <algorithm>

#include "build_folder.h"
#include "ninja/ninja_file.h"
#include "slices/header_sets.h"

namespace dsbuild {
namespace {

struct PlannedChanges {
  std::set<std::string> rewritten;  // planned files that differ from what is on disk
  std::set<std::string> absent;     // of these, those that are not there
};

PlannedChanges compare_planned_files(const Stages& stages, const FileReader& files) {
  PlannedChanges changes;
  for (const PlannedFile& file : stages.build.files) {
    const Path path = stages.base.settings.build_dir.value / file.path;
    const bool is_there = files.kind(path) == FileKind::file;
    if (!is_there) changes.absent.insert(file.path);
    if (!is_there || files.read_file(path).value_or("") != file.content) changes.rewritten.insert(file.path);
  }
  return changes;
}

BuildPlan with_edges_if(const BuildPlan& plan, const std::function<bool(const Edge&)>& wanted) {
  BuildPlan part = plan;
  part.edges.clear();
  std::copy_if(plan.edges.begin(), plan.edges.end(), std::back_inserter(part.edges), wanted);
  return part;
}

// What Ninja can judge: it refuses a graph with an input that is neither there nor made.
BuildPlan without_new_edges(const BuildPlan& plan, const std::set<std::string>& absent) {
  const PendingEdges made_from_new = with_rewritten_files(plan, {}, absent);
  return with_edges_if(plan, [&](const Edge& edge) { return made_from_new.count(edge.output) == 0; });
}

Result<PendingEdges> ask_ninja(const Stages& stages, const BuildPlan& plan, const Ninja& ninja,
                               System& system) {
  if (plan.edges.empty()) return PendingEdges{};
  const Path& folder = stages.base.settings.build_dir.value;
  const Path ninja_file = Path(k_tool_tmp_dir) / "explain.ninja";
  DSBUILD_TRY(text, render_ninja(plan));
  DSBUILD_CHECK(system.files.write_file(folder / ninja_file, text));
  auto pending = dry_run(ninja, plan, folder, ninja_file, system);
  DSBUILD_CHECK(system.files.remove_all(folder / ninja_file));
  return pending;
}

}  // namespace

Result<PendingEdges> find_pending_edges(const Stages& stages, const std::string& op, const Ninja& ninja,
                                        const CommandContext& context) {
  DSBUILD_TRY(lock, lock_if_built(stages.base.settings, context));
  const PlannedChanges changes = compare_planned_files(stages, context.system.files);
  const BuildPlan of_op = with_edges_if(
      stages.build, [&](const Edge& edge) { return op.empty() || is_for_op(stages.build, edge, op); });
  const BuildPlan known = without_new_edges(of_op, changes.absent);
  DSBUILD_CHECK(renew_header_sets(stages.base.settings.build_dir.value, context.system.files));
  DSBUILD_TRY(said, ask_ninja(stages, known, ninja, context.system));
  return with_rewritten_files(of_op, said, changes.rewritten);
}

}  // namespace dsbuild
