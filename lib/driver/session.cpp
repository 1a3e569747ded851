#include "driver/session.h"

namespace dsbuild {
namespace {

Events& nobody() {
  static Events silent;
  return silent;
}

}  // namespace

Session::Session(const Settings& settings, const System& of_system)
    : Session(settings, of_system, nobody()) {}

Session::Session(const Settings& settings, const System& of_system, Events& of_caller, Limits of_request)
    : system{of_system},
      events{of_caller},
      limits(std::move(of_request)),
      facts(of_system.files, settings.facts_file),
      build_facts(of_system.files, settings.build_dir.value / "facts.json"),
      digests(of_system.files, settings.cache_dir / "digests", settings.trust()),
      cached_facts(of_system.files, of_system.files.absolute(settings.local_cache.value), digests) {
  if (settings.local_cache_size.value > 0) facts.share_with(cached_facts);
  system.tools = {settings.pass_environment.value, of_system.files.absolute(settings.build_dir.value)};
}

void Session::share_with(std::shared_ptr<RemoteMirror> shared) {
  remote = std::move(shared);
  cached_facts.share_with(remote);
}

void Session::put_hint() {
  if (remote && remote->uploads()) cached_facts.put_hint();
}

void Session::end_sharing(double most_seconds) {
  if (!remote) return;
  put_hint();
  remote->finish(most_seconds);
}

Result<void> Session::check() const {
  if (limits.stop.stop_requested())
    return fail(Exit::failed, "cancelled", "build", "it was cancelled; the bundle is as it was",
                "Build again: finished steps do not run again.");
  if (limits.end && std::chrono::steady_clock::now() >= *limits.end)
    return fail(Exit::failed, "out_of_time", "build", "its time is over; the bundle is as it was",
                "Build again with more time: finished steps do not run again.");
  return {};
}

}  // namespace dsbuild
