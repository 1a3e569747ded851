// What a request is worked on with. Each request has a session of its own: several may run at once, in one
// process or in many.
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

// An edge whose time is recorded is ended, and the build with it, when it has worked for `factor` times as
// long, and `least_seconds` at least: a tool that hangs must not hang those who wait for it. What it waits
// for memory does not count.
struct EdgeLimit {
  double factor = 10;
  double least_seconds = 600;
};

// Asked between the stages of a request and, while a graph runs, several times a second.
struct Limits {
  std::stop_token stop;
  std::optional<std::chrono::steady_clock::time_point> end;
  std::optional<EdgeLimit> edge{};  // nullopt: each takes as long as it takes
};

struct Session {
  // Without events: of a request that nobody watches.
  Session(const Settings& settings, const System& system);
  Session(const Settings& settings, const System& system, Events& events, Limits limits = {});
  Session(const Session&) = delete;  // members name each other
  Session& operator=(const Session&) = delete;

  // What this request does with a cache that machines share; nullptr: nothing.
  void share_with(std::shared_ptr<RemoteMirror> shared);

  // Facts that this request asked for are a hint for others.
  void put_hint();

  // put_hint, and uploads get this time to end.
  void end_sharing(double most_seconds);

  // Errors: exit 1 `cancelled`, exit 1 `out_of_time`.
  Result<void> check() const;

  System system;  // the caller's, with how this request's tools are started
  Events& events;
  Limits limits;
  const int64_t began = unix_seconds();
  // What costs a process or the reading of a file, remembered.
  FactStore facts;           // of programs of this machine, in the cache folder
  FactStore build_facts;     // of libraries and sources, in the build folder
  DigestMemo digests;        // of files of this machine, in the cache folder
  CachedFacts cached_facts;  // what `facts` shares with other machines, where there is a cache
  std::shared_ptr<RemoteMirror> remote;
  std::shared_ptr<ExecutionService> execution;  // where hermetic tools run; nullptr: here
  bool starts_no_tools = false;                 // an action that needs one fails (lib/driver/cached_run.h)
};

}  // namespace dsbuild
