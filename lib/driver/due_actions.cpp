#include "driver/due_actions.h"

#include <set>

#include "base/build_layout.h"
#include "driver/build_folder.h"
#include "exec/action_key.h"

namespace dsbuild {
namespace {

class DueFinder {
 public:
  // `cache`: where lists are looked for that the build folder lacks.
  DueFinder(const Plan& plan, const BuildPlan& graph, System& system, DigestMemo& digests,
            std::optional<TieredCache> cache = {})
      : graph_(graph),
        build_dir_(plan.settings().build_dir.value),
        whole_build_dir_(system.files.absolute(build_dir_).string()),
        files_(system.files),
        lists_(files_, build_dir_, std::move(cache)),
        staleness_(build_dir_, files_, digests, lists_) {
    for (const PlannedFile& file : graph_.files)
      planned_[file.path] = &file.content;
  }

  DueActions find() {
    DueActions due;
    for (const Edge& edge : graph_.edges)
      if (auto change = change_of(edge)) due.emplace(edge.output, std::move(*change));
    if (!due.empty()) lists_.remove_unused();
    return due;
  }

  // Where a record holds, what it made is what later actions read.
  std::vector<Foreseen> foresee(const DueActions& due) {
    std::vector<Foreseen> actions;
    for (const Edge& edge : graph_.edges) {
      if (!due.contains(edge.output) || edge.kind == EdgeKind::verify) continue;
      Key key = key_of(edge);
      std::string digest = key.digest();
      if (has_records(edge)) foreseen_.emplace(edge.output, key);
      actions.push_back({std::move(digest), [this, key = std::move(key)](const Record& record) {
                           if (staleness_.find_staleness(record, key)) return false;
                           for (const FileDigest& output : record.outputs)
                             staleness_.foresee(output);
                           return true;
                         }});
    }
    return actions;
  }

  // After the shared cache was asked for what was foreseen.
  RemoteMisses explain_misses(RemoteMirror& remote, const TieredCache& cache) {
    RemoteMisses misses;
    for (const auto& [output, key] : foreseen_)
      if (std::string why = explain_miss(key, remote, cache); !why.empty())
        misses.emplace(output, std::move(why));
    return misses;
  }

 private:
  // These slices are found by what they are given.
  static bool has_records(const Edge& edge) { return edge.part != "host" && edge.part != "fatbin"; }

  // "" where the result is here, or was not asked for.
  std::string explain_miss(const Key& key, RemoteMirror& remote, const TieredCache& cache) {
    for (const std::string& text : cache.find_records(key.digest())) {
      const auto record = parse_record(text);
      if (!record || record->result.empty()) continue;
      const auto difference = staleness_.find_staleness(*record, key);
      if (!difference)
        return cache.has(record->result.digest)
                   ? ""
                   : text_of_lost_result(remote.log().finding(UpstreamKind::result, record->result.digest));
    }
    const RemoteFinding finding = remote.log().finding(UpstreamKind::records, key.digest());
    if (finding != RemoteFinding::found) return text_of_miss(finding, remote.scope());
    for (const std::string& digest : remote.log().records(key.digest())) {
      const auto text = cache.find_text(digest);
      const auto record = text ? parse_record(*text) : std::nullopt;
      if (const auto difference = record ? staleness_.find_staleness(*record, key) : std::nullopt)
        return "the nearest one there differs: " + difference->text();
    }
    return "";
  }

  Key key_of(const Edge& edge) {
    const StepWords words = step_words(graph_, edge);
    return action_key(
        {words, whole_build_dir_, [&](const std::string& path) { return read_planned(edge, path); }}, lists_);
  }

  std::optional<Change> change_of(const Edge& edge) {
    const auto text = files_.read_file(build_dir_ / record_file(edge.output));
    if (!text) return Change{"record", "", "it was not made yet", ""};
    const auto record = parse_record(*text);
    if (!record) return Change{"record", "", "its record is damaged", ""};
    auto change = staleness_.find_staleness(*record, key_of(edge));
    return change ? change : staleness_.first_changed_output(*record);
  }

  // The objects of a link are written down by Ninja, when it runs.
  std::optional<std::string> read_planned(const Edge& edge, const std::string& path) const {
    if (path == edge.output + k_objects_list_end)
      return edge.is_link() ? std::optional(join(edge.inputs, "\n")) : std::nullopt;
    const auto planned = planned_.find(path);
    return planned == planned_.end() ? std::nullopt : std::optional(*planned->second);
  }

  const BuildPlan& graph_;
  const Path& build_dir_;
  const std::string whole_build_dir_;
  FileSystem& files_;
  Lists lists_;
  Staleness staleness_;
  std::map<std::string, const std::string*> planned_;
  std::map<std::string, Key> foreseen_;  // by output
};

}  // namespace

DueActions find_due_actions(const Plan& plan, const BuildPlan& graph, System& system, DigestMemo& digests) {
  return DueFinder(plan, graph, system, digests).find();
}

RemoteMisses fetch_what_is_due(const DueActions& due, const Plan& plan, const BuildPlan& graph,
                               Session& session) {
  if (!session.remote || due.empty()) return {};
  FileSystem& files = session.system.files;
  const TieredCache cache(files, files.absolute(plan.settings().local_cache.value));
  DueFinder finder(plan, graph, session.system, session.digests, cache);
  session.remote->prefetch(finder.foresee(due));
  return finder.explain_misses(*session.remote, cache);
}

PendingEdges with_misses(PendingEdges reasons, const RemoteMisses& misses) {
  for (const auto& [output, why] : misses)
    if (const auto reason = reasons.find(output); reason != reasons.end())
      reason->second += "; shared cache: " + why;
  return reasons;
}

DueActions take_incomplete(DueActions& due) {
  DueActions incomplete;
  std::erase_if(due, [&](const auto& action) {
    const std::string& what = action.second.what;
    const bool is_incomplete = what == "incomplete" || what == "clock";
    if (is_incomplete) incomplete.insert(action);
    return is_incomplete;
  });
  return incomplete;
}

std::vector<Warning> warnings_of_incomplete(const DueActions& incomplete) {
  std::set<std::string> libraries, sources, clocks;
  for (const auto& [output, change] : incomplete) {
    const bool is_clock = change.what == "clock";
    (is_clock ? clocks : change.path == output ? libraries : sources).insert(change.where());
  }
  std::vector<Warning> warnings;
  for (const std::string& source : clocks)
    warnings.push_back(warning(
        "time_of_build", source,
        "it may have the time of its compile in it (__DATE__, __TIME__): dsbuild compiles it again in "
        "each build, and never caches the result",
        "Set SOURCE_DATE_EPOCH, which gcc takes in place of the clock, or take the macro "
        "out."));
  for (const std::string& source : sources)
    warnings.push_back(warning("unnamed_files", source,
                               "it may read files that no compiler names (#embed, or .incbin and .include in "
                               "asm): dsbuild compiles it again in each build, and never caches the result",
                               "Compile it with gcc and without -flto: GNU as says what it reads. For #embed "
                               "there is no other way."));
  for (const std::string& library : libraries)
    warnings.push_back(
        warning("unnamed_files", library,
                "its linker does not say which libraries it read: dsbuild links it again in each "
                "build, and never caches the result",
                "Link with GNU ld 2.35, lld 14 or newer, which have --dependency-file."));
  return warnings;
}

Result<void> take_records_away(const DueActions& due, const Path& build_dir, FileSystem& files) {
  for (const auto& [output, change] : due) {
    const Path record = build_dir / record_file(output);
    if (files.kind(record) == FileKind::absent) continue;
    DSBUILD_CHECK(files.rename(record, build_dir / old_record_file(output)));
  }
  return {};
}

PendingEdges reasons_of(const DueActions& due, const BuildPlan& graph) {
  PendingEdges pending;
  for (const auto& [output, change] : due)
    pending.emplace(output, change.text());
  return with_users(graph, std::move(pending));
}

Result<PendingEdges> find_pending_edges(const Plan& plan, Session& session) {
  DSBUILD_TRY(lock, lock_if_built(plan.survey.request, session.system.files));
  return reasons_of(find_due_actions(plan, plan.graph, session.system, session.digests), plan.graph);
}

Forecast forecast_of(const Plan& plan, Session& session) {
  const Host& host = plan.survey.machine.host;
  const Result<PendingEdges> pending = find_pending_edges(plan, session);
  std::set<std::string> outputs;
  for (const Edge& edge : plan.graph.edges)
    if (!pending || pending->count(edge.output) > 0) outputs.insert(edge.output);
  Forecast forecast = forecast_build({plan.graph, plan.history, plan.registry().pack,
                                      jobs_for(plan.settings(), host), memory_for(plan.settings(), host)},
                                     outputs);
  forecast.from_nothing = !pending;
  return forecast;
}

}  // namespace dsbuild
