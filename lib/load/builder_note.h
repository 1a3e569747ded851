// The note that a process which builds an op writes into its lock's file (FolderLock::tell) for the waiting
// processes, and how long these wait. Pure. Private to lib/load.
#pragma once

#include <optional>
#include <string>

namespace dsbuild {

struct BuilderNote {
  std::string holder;           // "pid command line", as the lock has it
  std::string node;             // its host name
  double begun = 0;             // seconds of the machine's steady clock, which all its processes share
  double expected_seconds = 0;  // of the whole build; 0: still unknown, during the plan
  bool is_recorded = false;     // all of its edges ran on this machine before; else the time is a guess
  std::string phase;            // "planning", "3 of 10 edges"
  bool operator==(const BuilderNote&) const = default;
};

// The lines after the holder's line.
std::string render_note(const BuilderNote& note);
// Parses the whole text of a lock's file; nullopt: it has no note yet.
std::optional<BuilderNote> parse_note(const std::string& told);

// After this time a builder counts as stuck, and a waiting process builds for itself. The time is `factor`
// times the recorded time of the build, but at least `least` seconds. Without a recorded time it is `factor`
// times a guess, but at least `least_guessed` seconds.
struct Patience {
  double factor = 5;
  double least = 60;
  double least_guessed = 600;
};
double seconds_of(const Patience& patience, const BuilderNote& note);

// "waiting for process 17 on node7, which has been building fused_adam for 8 s (3 of 10 edges); it takes
// about 20 s in all". `now`: seconds of the same clock as `begun`.
std::string waiting_text(const BuilderNote& note, const std::string& op, double now);

}  // namespace dsbuild
