// What a build will take: its edges played through on so many jobs within so much memory. Pure.
#pragma once

#include "plan/build_plan.h"

namespace dsbuild {

struct Forecast {
  double seconds = 0;
  // Where some edges are guessed: these may take half as long, or three times.
  double least_seconds = 0, most_seconds = 0;
  ByteCount memory_bytes = 0;   // at most, of all edges that run at once
  ByteCount written_bytes = 0;  // 0 where not all edges are known
  size_t edges = 0;             // that would run
  size_t measured = 0;          // of these, those that ran on this machine before; the others are guessed
  bool from_nothing = false;    // of a build from nothing, where it is not known what is up to date
  bool operator==(const Forecast&) const = default;
};

struct ForecastInput {
  const BuildPlan& plan;
  const EdgeHistory& history;
  const std::string& pack;
  int jobs = 1;
  ByteCount memory_bytes = 0;  // that edges may use together
};

// Of the edges whose outputs are named. An edge starts when the edges that make its inputs have ended, the
// longest first, as they stand in the plan.
Forecast forecast_build(const ForecastInput& input, const std::set<std::string>& outputs);

}  // namespace dsbuild
