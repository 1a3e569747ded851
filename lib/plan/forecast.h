// Forecasts the time and memory of a build: simulates its edges with a number of jobs and a memory limit.
// Pure.
#pragma once

#include "plan/build_plan.h"

namespace dsbuild {

struct Forecast {
  double seconds = 0;
  // The range of seconds: edges without a measured time may take half as long, or three times as long.
  double least_seconds = 0, most_seconds = 0;
  ByteCount memory_bytes = 0;   // the largest sum over all edges that run at once
  ByteCount written_bytes = 0;  // 0 if not all edges are known
  size_t edges = 0;             // that would run
  size_t measured = 0;          // edges that ran on this machine before; the others are estimated
  // The forecast is for a build from nothing, because it is unknown what is up to date.
  bool from_nothing = false;
  bool operator==(const Forecast&) const = default;
};

struct ForecastInput {
  const BuildPlan& plan;
  const EdgeHistory& history;
  const std::string& pack;
  int jobs = 1;
  ByteCount memory_bytes = 0;  // that edges may use together
};

// Forecasts the edges with these outputs. An edge starts when the edges that make its inputs have ended;
// ready edges start in the plan's order.
Forecast forecast_build(const ForecastInput& input, const std::set<std::string>& outputs);

}  // namespace dsbuild
