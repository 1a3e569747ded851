#include "driver/cache_transfer.h"

#include <algorithm>

#include "driver/build_folder.h"
#include "driver/rebuild_until_stable.h"
#include "ninja/ninja_run.h"
#include "ninja/progress.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr const char* k_folder_end = "-cache";
constexpr double k_a_day = 24 * 3600, k_said_every = 2;
// Entries whose files are in memory at once.
constexpr size_t k_piece = 64;

// Removes the folder of the run, also where that failed.
class RunFolder {
 public:
  RunFolder(Path folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {}
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder() { (void)files_.remove_all(folder_); }

 private:
  const Path folder_;
  FileSystem& files_;
};

CacheTransfer with_uses(CacheTransfer transfer, Session& session) {
  session.end_sharing(k_a_day);
  transfer.uses = session.remote->uses();
  if (session.remote->pushes()) transfer.entries = session.remote->pushed().size();
  return transfer;
}

// By a signal, or where Ninja itself fails, nobody knows what is missing.
Result<void> check_came_to_its_end(const GraphRun& run) {
  constexpr int k_signal = 128;
  if (run.exit_code == 0 || (run.exit_code < k_signal && !run.failures.empty())) return {};
  if (run.exit_code > k_signal)
    return fail(static_cast<Exit>(run.exit_code), "interrupted", "cache",
                "it was ended by signal " + std::to_string(run.exit_code - k_signal),
                "The same command goes on from there.");
  return fail(Exit::failed, "ninja_failed", "cache", "Ninja stopped: " + run.trouble,
              "Look at what it says, and ask again.");
}

// In pieces, and says how far it is.
template <class Take>
Result<void> in_pieces(const std::vector<UpstreamItem>& items, Session& session, const Take& take) {
  double said = steady_seconds();
  for (size_t at = 0; at < items.size(); at += k_piece) {
    DSBUILD_CHECK(session.check());
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(at);
    take(std::vector<UpstreamItem>(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(k_piece, items.size() - at))));
    if (steady_seconds() - said < k_said_every) continue;
    said = steady_seconds();
    session.events.on_note("entries: " + std::to_string(std::min(at + k_piece, items.size())) + " of " +
                           std::to_string(items.size()));
  }
  return {};
}

}  // namespace

Settings settings_of_transfer(Settings settings) {
  settings.build_dir.value = settings.build_dir.value.string() + k_folder_end;
  settings.keep_going.value = true;
  settings.verify_against_nvcc.value = false;
  settings.add.value = false;
  return settings;
}

Result<CacheTransfer> transfer_plan(Request request, Session& session) {
  FileSystem& files = session.system.files;
  if (session.remote->pushes()) session.facts.share_known();
  DSBUILD_TRY(plan, make_plan(std::move(request), session));
  const Settings& settings = plan.settings();
  DSBUILD_CHECK(TieredCache(files, settings.local_cache.value).check());
  plan.untested.clear();  // a self-test starts compilers
  session.starts_no_tools = true;
  DSBUILD_TRY(ninja, find_ninja(settings, session.system, session.facts));
  DSBUILD_TRY(lock, open_build_folder(plan.survey.request, session));
  const RunFolder folder(settings.build_dir.value, files);
  DSBUILD_CHECK(write_planned_files(plan, files));
  RunLog log(settings.build_dir.value, files);
  DiagnosticCollector diagnostics = collector_for(plan, session);
  TimingsLog timings;
  DSBUILD_TRY(run, run_until_settled({plan, ninja, *lock, log, diagnostics, timings, session}, plan.graph));
  DSBUILD_CHECK(check_came_to_its_end(run));
  CacheTransfer transfer;
  transfer.edges = plan.graph.edges.size();
  for (const EdgeFailure& failure : run.failures)
    transfer.missing.push_back(edge_title(failure.edge));
  transfer.waiting = run.edges_left - std::min(run.edges_left, run.failures.size());
  session.facts.save();
  return with_uses(std::move(transfer), session);
}

Result<CacheTransfer> push_all(const Settings& settings, Session& session) {
  DSBUILD_TRY(items, TieredCache(session.system.files, settings.local_cache.value).items());
  DSBUILD_CHECK(in_pieces(items, session,
                          [&](const std::vector<UpstreamItem>& piece) { session.remote->push(piece); }));
  return with_uses({}, session);
}

Result<CacheTransfer> pull_all(const std::vector<UpstreamItem>& items, Session& session) {
  CacheTransfer transfer;
  DSBUILD_CHECK(in_pieces(items, session, [&](const std::vector<UpstreamItem>& piece) {
    transfer.entries += session.remote->pull(piece);
  }));
  transfer.lacking = items.size() - transfer.entries;
  return with_uses(std::move(transfer), session);
}

}  // namespace dsbuild
