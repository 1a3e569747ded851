#include "load/jit_build.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/build_layout.h"
#include "driver/build_bundle.h"
#include "driver/build_folder.h"
#include "driver/null_build.h"
#include "load/builder_note.h"
#include "load/prebuilt.h"
#include "load/shared_failure.h"
#include "plan/forecast.h"
#include "remote/open_remote.h"
#include "sys/clock.h"
#include "sys/parent.h"

namespace dsbuild {
namespace {

constexpr const char* k_turn_file = "turn";
constexpr const char* k_building_file = "building";
constexpr double k_told_after_seconds = 5;
// How long compilers of a builder that was killed may take to end: they get a signal when it dies.
constexpr double k_for_orphans_seconds = 0.5;

// The first is the op's own; the others lie in it.
Path folder_of_turn(const Path& folder, size_t turn) {
  return turn == 0 ? folder : folder / ("turn" + std::to_string(turn));
}

Request in_folder(Request jit, const Path& folder) {
  jit.settings.build_dir = {folder / "build", "load"};
  jit.settings.out = {folder / "bundle", "load"};
  return jit;
}

System counting_system(const System& system) {
  return {system.files, system.processes, without_launchers(system.environment), system.program};
}

Result<LoadedOp> loaded_from(const Settings& settings, Manifest manifest, const LoadRequest& request,
                             const FileReader& files) {
  LoadedOp loaded;
  const std::vector<const ManifestOp*> entries = manifest.find_all(request.op);
  if (entries.empty())
    return fail(Exit::failed, "no_bundle", settings.out.value.string(), "it has no " + request.op);
  const auto [op, fit] = fitting_op(entries, manifest, request.machine, std::nullopt);
  loaded.op = *op;
  loaded.manifest = std::move(manifest);
  loaded.library = files.absolute(settings.out.value / loaded.op.file);
  loaded.from = "built";
  DSBUILD_CHECK(check_is_safe(loaded.library, files));
  loaded.coverage = fit.coverage;
  if (fit.misfit.empty()) return loaded;
  return fail(Exit::unmet, "no_fit", settings.arch.origin,
              "built for " + arch_text(settings.arch.value.targets) + ": " + fit.misfit,
              "Name an arch of this machine's GPUs, or none: then it is built for them.");
}

std::optional<LoadedOp> find_built_in(const Path& folder, const LoadRequest& request,
                                      const std::string& asked, const System& system) {
  const Request there = in_folder(request.request, folder);
  if (!look_for_unchanged_build(there, asked, counting_system(system))) return std::nullopt;
  auto manifest = load_manifest(there.settings.out.value, system.files);
  if (!manifest) return std::nullopt;
  auto loaded = loaded_from(there.settings, std::move(*manifest), request, system.files);
  return loaded ? std::optional(std::move(*loaded)) : std::nullopt;
}

// Passes everything on, and tells those who wait how far it is.
class TellingEvents : public Events {
 public:
  TellingEvents(Events& events, const FolderLock& lock, BuilderNote note)
      : events_(events), lock_(lock), note_(std::move(note)) {
    tell("planning");
  }

  void on_plan(const Plan& plan, const std::vector<std::string>& removed) override {
    std::set<std::string> outputs;
    for (const Edge& edge : plan.graph.edges)
      outputs.insert(edge.output);
    const Settings& settings = plan.settings();
    const Host& host = plan.survey.machine.host;
    const Forecast forecast = forecast_build({plan.graph, plan.history, plan.registry().pack,
                                              jobs_for(settings, host), memory_for(settings, host)},
                                             outputs);
    note_.expected_seconds = forecast.seconds;
    note_.is_recorded = forecast.measured == forecast.edges;
    tell("planned");
    events_.on_plan(plan, removed);
  }
  void on_edge(const EdgeEvent& event) override {
    tell(std::to_string(event.finished) + " of " + std::to_string(event.total) + " edges");
    events_.on_edge(event);
  }
  void on_graph_begins(RunEstimate& estimate) override { events_.on_graph_begins(estimate); }
  void on_tick() override { events_.on_tick(); }
  void on_graph_ends() override { events_.on_graph_ends(); }
  void on_diagnostic(const ToolDiagnostic& told) override { events_.on_diagnostic(told); }
  void on_failure(const EdgeFailure& failure) override { events_.on_failure(failure); }
  void on_unfinished(const UnfinishedRun& left) override { events_.on_unfinished(left); }
  void on_warning(const Warning& warning) override { events_.on_warning(warning); }
  void on_removed(const Path& folder) override { events_.on_removed(folder); }
  void on_note(const std::string& line) override { events_.on_note(line); }
  void on_message(const std::string& line) override { events_.on_message(line); }

 private:
  void tell(const std::string& phase) {
    note_.phase = phase;
    lock_.tell(render_note(note_));
  }

  Events& events_;
  const FolderLock& lock_;
  BuilderNote note_;
};

// Waits for the lock of one folder, or for what its holder makes.
class Waiter {
 public:
  Waiter(const LoadRequest& request, const Path& folder, const std::string& asked, Session& session)
      : request_(request), folder_(folder), asked_(asked), session_(session) {}

  // nullptr: `built`, or the builder is stuck. Errors: those of Session::check, `locked`.
  Result<std::unique_ptr<FolderLock>> wait() {
    unchanged_ = unchanged();
    DSBUILD_TRY(lock, take_lock_while(folder_ / k_turn_file, request_.request.title,
                                      [this](const std::string& told) { return goes_on(told); }));
    if (error_) return tl::unexpected<Error>(*error_);
    return lock;
  }
  std::optional<LoadedOp>& built() { return built_; }
  bool has_waited() const { return has_waited_; }

 private:
  std::optional<FileIdentity> unchanged() const {
    return session_.system.files.identity(folder_ / "build" / k_unchanged_file);
  }

  bool goes_on(const std::string& told) {
    has_waited_ = true;
    if (const auto now = unchanged(); now != unchanged_) {
      unchanged_ = now;
      built_ = find_built_in(folder_, request_, asked_, session_.system);
    }
    if (built_ || !may_wait_on(told)) return false;
    const auto note = parse_note(told);
    if (!note) return true;
    const double now = steady_seconds();
    if (!is_told_ && now - begun_ >= k_told_after_seconds) {
      session_.events.on_message(waiting_text(*note, request_.op, now));
      is_told_ = true;
    }
    return now - std::max(note->begun, 0.0) < seconds_of(request_.patience, *note);
  }

  bool may_wait_on(const std::string& told) {
    const int timeout = request_.request.settings.lock_timeout.value;
    if (auto checked = session_.check(); !checked)
      error_ = checked.error();
    else if (timeout >= 0 && steady_seconds() - begun_ >= timeout)
      error_ = make_error(Exit::locked, "locked", folder_.string(),
                          "still locked after " + std::to_string(timeout) + " s by " +
                              printable(told.substr(0, told.find('\n'))),
                          "wait until it ends, or use another folder");
    return !error_;
  }

  const LoadRequest& request_;
  const Path& folder_;
  const std::string& asked_;
  Session& session_;
  const double begun_ = steady_seconds();
  std::optional<FileIdentity> unchanged_;
  std::optional<LoadedOp> built_;
  std::optional<Error> error_;
  bool is_told_ = false, has_waited_ = false;
};

// Stands in the folder of a turn while something is built there; a builder that is killed leaves it.
class BuildingMark {
 public:
  BuildingMark(Path file, FileSystem& files) : file_(std::move(file)), files_(files) {
    (void)files_.write_file(file_, "");
  }
  BuildingMark(const BuildingMark&) = delete;
  BuildingMark& operator=(const BuildingMark&) = delete;
  ~BuildingMark() { (void)files_.remove_all(file_); }

 private:
  const Path file_;
  FileSystem& files_;
};

// Compilers do not inherit the lock of the build folder, for some leave a server behind that would hold it
// for ever. So where a builder was killed, those that it started are looked for.
bool is_empty_of_compilers(const Path& folder, const std::string& title, const FileReader& files) {
  const auto lock =
      take_lock_if_there(folder / "build" / k_build_lock_file, title, std::chrono::seconds::zero(), {});
  if (!lock && lock.error().code == "locked") return false;
  return files.kind(folder / k_building_file) == FileKind::absent || !is_worked_in(folder / "build");
}

// They end when their builder does, in no time as a rule.
bool is_left(const Path& folder, const std::string& title, const FileReader& files) {
  const double end = steady_seconds() + k_for_orphans_seconds;
  while (!is_empty_of_compilers(folder, title, files)) {
    if (steady_seconds() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

void remember(const Built& built, const Request& jit, const std::string& asked, const System& system) {
  System counting = counting_system(system);
  const BuildOutcome& outcome = built.outcome;
  remember_build(
      {"", outcome.bundle, outcome.manifest.ops.size(), outcome.skipped, {}}, asked, built.plan,
      [&](System& watched) -> Result<Plan> {
        Request again = jit;
        again.registry = nullptr;
        Session session(again.settings, watched);
        return make_plan(std::move(again), session);
      },
      counting);
}

Result<LoadedOp> build_under(const FolderLock& lock, const LoadRequest& request, const Request& jit,
                             const std::string& asked, Session& session) {
  const FileReader& files = session.system.files;
  BuilderNote note;
  note.node = trim(files.read_file("/proc/sys/kernel/hostname").value_or(""));
  note.begun = steady_seconds();
  TellingEvents events(session.events, lock, std::move(note));
  Limits limits = session.limits;
  if (!limits.edge) limits.edge = EdgeLimit{};
  Session own(jit.settings, session.system, events, limits);
  const BuildingMark mark(jit.settings.build_dir.value.parent_path() / k_building_file, session.system.files);
  DSBUILD_TRY(remote, open_remote(jit.settings, own.system));
  own.share_with(std::move(remote));
  auto built = build_bundle(jit, own);
  if (!built) return tl::unexpected<Error>(built.error());
  remember(*built, jit, asked, session.system);
  DSBUILD_TRY(loaded, loaded_from(jit.settings, built->outcome.manifest, request, files));
  loaded.edges_run = built->outcome.edges_run;
  loaded.compiles = built->outcome.compiles;
  return loaded;
}

}  // namespace

std::optional<LoadedOp> find_built(const LoadRequest& request, const JitFolder& folder,
                                   const System& system) {
  for (size_t turn = 0; turn < k_most_turns; ++turn) {
    const Path own = folder_of_turn(folder.folder, turn);
    if (turn > 0 && system.files.kind(own) == FileKind::absent) break;
    if (auto built = find_built_in(own, request, folder.asked, system)) return built;
  }
  return std::nullopt;
}

Result<LoadedOp> build_in_turn(const LoadRequest& request, Request jit, const JitFolder& folder,
                               Session& session) {
  jit.settings.lock_timeout = {1, "load"};  // who works there now goes against the rule: by hand
  const double since = steady_seconds();
  FileSystem& files = session.system.files;
  for (size_t turn = 0; turn < k_most_turns; ++turn) {
    const Path own = folder_of_turn(folder.folder, turn);
    Waiter waiter(request, own, folder.asked, session);
    DSBUILD_TRY(lock, waiter.wait());
    if (waiter.built()) return std::move(*waiter.built());
    if (!lock) continue;
    if (auto built = find_built_in(own, request, folder.asked, session.system)) return std::move(*built);
    if (auto failure = failure_since(own, folder.asked, since, files)) return tl::unexpected<Error>(*failure);
    if (!is_left(own, request.request.title, files)) continue;
    if (waiter.has_waited()) jit.registry = nullptr;  // it may be another by now
    auto built = build_under(*lock, request, in_folder(jit, own), folder.asked, session);
    if (!built && is_shared(built.error()))
      share_failure(own, folder.asked, built.error(), steady_seconds(), files);
    if (built || built.error().code != "locked") return built;
  }
  return fail(Exit::locked, "locked", folder.folder.string(),
              "the processes that build " + request.op + " here are stuck, " + std::to_string(k_most_turns) +
                  " one after the other",
              "End them, or remove the folder.");
}

}  // namespace dsbuild
