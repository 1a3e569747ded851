#include "build/build_counts.h"

#include <cmath>

#include "sys/clock.h"

namespace dsbuild {
namespace {

RemoteCounts counts_of(RemoteMirror& remote) {
  const MirrorUses uses = remote.uses();
  return {.hits = uses.hits,
          .misses = uses.misses,
          .received_bytes = uses.bytes_in,
          .sent_bytes = uses.bytes_out,
          .requests = uses.requests,
          .uploads = uses.uploaded,
          .saved_milliseconds = uses.saved_milliseconds,
          .lost = uses.lost,
          .damaged = uses.damaged,
          .untrusted = uses.untrusted,
          .fallbacks = uses.off.empty() ? uint64_t{0} : uint64_t{1}};
}

}  // namespace

void count_build(const EndedBuild& build, const Settings& settings, Session& session) {
  if (settings.store_size.value == 0) return;
  const auto milliseconds = static_cast<uint64_t>(std::llround(build.seconds * 1000));
  ContentStore(session.system.files, settings.store.value).count([&](CacheCounts& counts) {
    ++counts.builds;
    counts.failed_builds += build.has_failed ? 1 : 0;
    counts.build_milliseconds += milliseconds;
    counts.last_build_milliseconds = milliseconds;
    counts.last_build_failed = build.has_failed ? 1 : 0;
    counts.last_build_at = static_cast<uint64_t>(unix_seconds());
    if (!session.remote) return;
    add(counts_of_scope(counts, settings.remote_scope.value), counts_of(*session.remote));
    if (const std::string why = session.remote->uses().off; !why.empty()) counts.last_fallback = why;
  });
}

}  // namespace dsbuild
