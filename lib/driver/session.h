// The objects that one request uses. Each request has a session of its own, so several may run at once, in
// one process or in many.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "driver/events.h"
#include "exec/cached_facts.h"
#include "remote/mirror.h"
#include "remote_execution/execution_service.h"
#include "settings/settings.h"
#include "sys/clock.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/system.h"

namespace dsbuild {

// Ends a build whose tool hangs. The limit of an edge is `factor` times its time in earlier builds, but at
// least `least_seconds`. Edges without a known time have no limit. Waits for memory do not count.
struct EdgeLimit {
  double factor = 10;
  double least_seconds = 600;
};

// dsbuild checks these between the stages of a request and, while a graph runs, several times a second.
struct Limits {
  std::stop_token stop;
  std::optional<std::chrono::steady_clock::time_point> end;
  std::optional<EdgeLimit> edge{};  // nullopt: no limit
};

struct Session {
  // Without events, for a request that nobody watches.
  Session(const Settings& settings, const System& system);
  Session(const Settings& settings, const System& system, Events& events, Limits limits = {});
  Session(const Session&) = delete;  // members refer to each other
  Session& operator=(const Session&) = delete;

  // Sets the shared cache of this request; nullptr: it uses none.
  void share_with(std::shared_ptr<RemoteMirror> shared);

  // Stores which facts this request asked for, as a hint for later builds (exec/cached_facts.h).
  void put_hint();

  // Calls put_hint, then waits at most this long for uploads.
  void end_sharing(double most_seconds);

  // Errors: exit 1 `cancelled`, exit 1 `out_of_time`.
  Result<void> check() const;

  System system;  // the caller's, with this request's way to start tools
  Events& events;
  Limits limits;
  const int64_t began = unix_seconds();
  // Stored answers of programs and digests of files.
  FactStore facts;           // about programs of this machine; in the cache folder
  FactStore build_facts;     // about libraries and sources; in the build folder
  DigestMemo digests;        // of files of this machine; in the cache folder
  CachedFacts cached_facts;  // the facts that `facts` shares with other machines through the cache
  std::shared_ptr<RemoteMirror> remote;
  std::shared_ptr<ExecutionService> execution;  // where hermetic tools run; nullptr: here
  bool starts_no_tools = false;                 // an action that needs one fails (lib/driver/cached_run.h)
};

}  // namespace dsbuild
