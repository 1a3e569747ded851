#include "driver/build_shard.h"

#include <chrono>

#include "driver/build_counts.h"
#include "driver/build_folder.h"
#include "driver/rebuild_until_stable.h"
#include "driver/run_end.h"
#include "driver/slice_tests.h"
#include "remote/serve_steps.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

tl::unexpected<Error> refuse(const Settings& settings, const std::string& why, const std::string& fix) {
  return fail(Exit::usage, "bad_shard", settings.shard.origin, why, fix);
}

Result<ShardPlan> load_shard_plan(const Path& file, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(file));
  return parse_shard_plan(text, file.string());
}

// The cut of the file. Where several write it at once, one of them wins, and the others have the same plan or
// see at their end that they have not.
Result<ShardPlan> agree(const ShardPlan& own, const Path& file, FileSystem& files) {
  if (file.empty()) return own;
  if (files.kind(file) == FileKind::absent) DSBUILD_CHECK(files.write_file(file, render_shard_plan(own)));
  DSBUILD_TRY(there, load_shard_plan(file, files));
  DSBUILD_CHECK(check_same_plan(own, there, file.string()));
  return there;
}

const Shard& share_in(const ShardPlan& cut, const ShardChoice& choice) {
  return cut.shards[static_cast<size_t>(choice.number) - 1];
}

ShardShare share_of(const ShardPlan& cut, const ShardChoice& choice) {
  ShardShare share;
  share.choice = choice;
  share.plan = cut.digest;
  for (const Shard& shard : cut.shards) {
    share.of_edges += shard.outputs.size();
    share.of_seconds += static_cast<double>(shard.milliseconds) / 1000;
  }
  const Shard& own = share_in(cut, choice);
  share.edges = own.outputs.size();
  share.seconds = static_cast<double>(own.milliseconds) / 1000;
  return share;
}

Error not_uploaded(const Settings& settings, const std::string& what) {
  return make_error(
      Exit::failed, "shard_not_uploaded", settings.remote.origin, what,
      "Look whether the shared cache can be reached and takes results, and run the shard again: what "
      "it has compiled is in the local cache.");
}

// Before hours of work: three failures in a row turn it off.
Result<void> check_reachable(const std::string& plan, const Settings& settings, Session& session) {
  constexpr int k_tries = 3;
  for (int i = 0; i < k_tries; ++i)
    (void)session.remote->pull({{UpstreamKind::records, plan}});
  const MirrorUses uses = session.remote->uses();
  std::string why = uses.off.empty() ? uses.read_only : uses.off;
  if (why.empty() && !session.remote->may_put()) why = "there are no credentials to upload with";
  if (why.empty()) return {};
  return tl::unexpected<Error>(
      not_uploaded(settings, "the shared cache cannot be used, so nothing was compiled: " + why));
}

// nullopt: the plan counted on slices that are not what nvcc makes. The next one does not.
Result<std::optional<GraphRun>> run_share(const Plan& plan, Session& session) {
  FileSystem& files = session.system.files;
  const Path& folder = plan.settings().build_dir.value;
  DSBUILD_TRY(ninja, find_ninja(plan.settings(), session.system, session.facts));
  DSBUILD_TRY(lock, open_build_folder(plan.survey.request, session));
  DSBUILD_CHECK(write_planned_files(plan, files));
  RunLog log(folder, files);
  SliceTests slice_tests(plan, session);
  DiagnosticCollector diagnostics = collector_for(plan, session);
  TimingsLog timings;
  DSBUILD_TRY(run, run_until_settled({plan, ninja, *lock, log, diagnostics, timings, session}, plan.graph));
  const bool stands = was_interrupted(run) || slice_tests.plan_stands();
  save_what_was_learnt(run, session);
  if (!stands) return std::nullopt;
  DSBUILD_CHECK(end_run(run, plan, session));
  if (!run.failures.empty()) return tl::unexpected<Error>(edges_failed(run, plan));
  return run;
}

// nullopt: as run_share.
Result<std::optional<ShardOutcome>> try_shard(Request request, SliceTesting testing, Session& session) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(plan, make_plan(std::move(request), session));
  if (testing == SliceTesting::done) plan.untested.clear();
  const Settings settings = plan.settings();
  const ShardChoice& choice = settings.shard.value;
  const ShardPlan own = cut_plan(plan, static_cast<size_t>(choice.of));
  DSBUILD_TRY(cut, agree(own, settings.shard_plan.value, files));
  DSBUILD_CHECK(TieredCache(files, settings.local_cache.value).check());
  DSBUILD_CHECK(check_reachable(cut.digest, settings, session));
  ShardOutcome outcome;
  outcome.share = share_of(cut, choice);
  session.events.on_plan(plan, {});
  session.events.on_shard(outcome.share);
  plan.graph = part_of_graph(std::move(plan.graph), share_in(cut, choice).outputs);
  DSBUILD_TRY(run, run_share(plan, session));
  if (!run) return std::nullopt;
  DSBUILD_CHECK(agree(own, settings.shard_plan.value, files));
  outcome.compiles = run->compiles;
  outcome.shared_compiles = run->shared_compiles;
  outcome.warnings = plan.warnings;
  append(outcome.warnings, run->told);
  append(outcome.warnings, run->warnings);
  return outcome;
}

// What a shard that failed has made goes there too. `code`: of its error.
bool send_all(const std::string& code, Session& session) {
  session.put_hint();
  const bool is_sent =
      !was_ended(code) && session.remote->send_all([&] { return session.check().has_value(); });
  session.remote->finish(0);
  return is_sent;
}

std::string text_of_unsent(const MirrorUses& uses) {
  const std::string& why = uses.off.empty() ? uses.read_only : uses.off;
  return plural(uses.unsent, "result") + " of this shard did not get into the shared cache" +
         (why.empty() ? "" : ": " + why);
}

}  // namespace

Result<void> check_shard(const Settings& settings) {
  const ShardChoice& choice = settings.shard.value;
  if (!choice.is_given()) return {};
  const std::string shard = "shard '" + choice.text() + "'";
  if (settings.remote.value.empty())
    return refuse(settings, shard + " needs a cache that machines share, and none is named",
                  "Name the one of all shards: --remote URL, or DSBUILD_REMOTE.");
  if (settings.local_cache_size.value == 0)
    return refuse(settings, shard + " needs the local cache, and it has no room",
                  "Leave --cache-size 0 out.");
  if (choice.is_share() && settings.remote_upload.value == RemoteUpload::never)
    return refuse(settings,
                  shard + " brings what it compiles into the shared cache, and " +
                      settings.remote_upload.origin + " forbids that",
                  "Leave " + settings.remote_upload.origin + " never out; --shard merge may have it.");
  return {};
}

Settings settings_of_shard(Settings settings) {
  const ShardChoice& choice = settings.shard.value;
  settings.build_dir.value = settings.build_dir.value.string() + "-shard-" + std::to_string(choice.number) +
                             "-of-" + std::to_string(choice.of);
  settings.verify_against_nvcc.value = false;
  // A share has few of the files that a header would be precompiled for.
  if (settings.precompile.value == Precompile::automatic) settings.precompile.value = Precompile::off;
  return settings;
}

Result<ShardOutcome> build_shard(Request request, Session& session) {
  const double start = steady_seconds();
  const Request again = request;
  const Settings& settings = again.settings;
  FileSystem& files = session.system.files;
  DSBUILD_CHECK(remove_build_folder(again, files, session.events));
  auto tried = try_shard(std::move(request), SliceTesting::beside, session);
  if (tried && !*tried) tried = try_shard(again, SliceTesting::done, session);
  const bool is_sent = send_all(tried ? "" : tried.error().code, session);
  const MirrorUses uses = session.remote->uses();
  for (const Warning& warning : warnings_of(uses))
    session.events.on_warning(warning);
  const double seconds = steady_seconds() - start;
  count_build({seconds, !tried || !is_sent}, settings, session);
  DSBUILD_TRY(outcome, std::move(tried));
  if (!is_sent) return tl::unexpected<Error>(not_uploaded(settings, text_of_unsent(uses)));
  outcome->seconds = seconds;
  outcome->remote = uses;
  DSBUILD_CHECK(remove_build_folder(again, files, session.events));
  return std::move(*outcome);
}

Result<std::optional<MergeCounts>> check_merge(const Plan& plan, const FileReader& files) {
  if (!plan.settings().shard.value.merges) return std::nullopt;
  const Path& file = plan.settings().shard_plan.value;
  const ShardPlan whole = cut_plan(plan, 1);
  const MergeCounts counts{.plan = whole.digest, .edges = whole.shards.front().outputs.size()};
  if (file.empty()) return counts;
  if (files.kind(file) == FileKind::absent)
    return fail(Exit::usage, "bad_shard_plan", file.string(), "there is no such file",
                "Give the merge the file that the shards wrote, or leave --shard-plan out.");
  DSBUILD_TRY(there, load_shard_plan(file, files));
  DSBUILD_CHECK(check_same_plan(cut_plan(plan, there.shards.size()), there, file.string()));
  return counts;
}

}  // namespace dsbuild
