// What who builds an op tells those who wait for it, in the file of the lock (FolderLock::tell), and how long
// they go on waiting. Pure. Private to lib/load.
#pragma once

#include <optional>
#include <string>

namespace dsbuild {

struct BuilderNote {
  std::string holder;           // "pid command line", as the lock has it
  std::string node;             // its host name
  double begun = 0;             // seconds of the node's steady clock, which all its processes share
  double expected_seconds = 0;  // of the whole build; 0: not known yet, for it is still planning
  bool is_recorded = false;     // all of its edges ran on this machine before; else the time is a guess
  std::string phase;            // "planning", "3 of 10 edges"
  bool operator==(const BuilderNote&) const = default;
};

// The lines after that of the holder.
std::string render_note(const BuilderNote& note);
// Of all that a lock's file holds; nullopt where it holds no note, or not yet.
std::optional<BuilderNote> parse_note(const std::string& told);

// After so long a builder counts as stuck, and one of those who wait builds for itself: `factor` times the
// time that is recorded for the build, and `least` seconds at least. Where nothing is recorded, a guess
// counts in its place, and `least_guessed` seconds at least.
struct Patience {
  double factor = 5;
  double least = 60;
  double least_guessed = 600;
};
double seconds_of(const Patience& patience, const BuilderNote& note);

// "waiting for process 17 on node7, which has been building fused_adam for 8 s (3 of 10 edges); it takes
// about 20 s in all". `now`: of the same clock.
std::string waiting_text(const BuilderNote& note, const std::string& op, double now);

}  // namespace dsbuild
