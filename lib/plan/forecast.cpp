#include "plan/forecast.h"

#include <algorithm>

#include "plan/rehearsal.h"

namespace dsbuild {
namespace {

// `factor`: how much longer edges take than is guessed of them.
Forecast rehearse(const ForecastInput& input, const std::set<std::string>& outputs, double factor) {
  Forecast forecast;
  std::vector<RehearsedEdge> edges;
  for (const Edge& edge : input.plan.edges) {
    if (outputs.count(edge.output) == 0) continue;
    const EdgeCost cost = expected_cost(input.history, input.pack, edge);
    const bool measured = is_measured(input.history, input.pack, edge);
    edges.push_back({&edge, cost.seconds * (measured ? 1 : factor), cost.peak_bytes});
    forecast.measured += measured ? 1 : 0;
    forecast.written_bytes += cost.output_bytes;
  }
  forecast.edges = edges.size();
  const auto result = Rehearsal(std::move(edges), input.jobs, input.memory_bytes).from_nothing();
  forecast.seconds = result.seconds;
  forecast.memory_bytes = result.memory_bytes;
  return forecast;
}

}  // namespace

Forecast forecast_build(const ForecastInput& input, const std::set<std::string>& outputs) {
  constexpr double k_least = 0.5, k_most = 3;
  Forecast forecast = rehearse(input, outputs, 1);
  forecast.least_seconds = forecast.most_seconds = forecast.seconds;
  if (forecast.measured == forecast.edges) return forecast;
  const auto seconds = [&](double factor) { return rehearse(input, outputs, factor).seconds; };
  forecast.least_seconds = std::min(seconds(k_least), forecast.seconds);
  forecast.most_seconds = std::max(seconds(k_most), forecast.seconds);
  forecast.written_bytes = 0;
  return forecast;
}

}  // namespace dsbuild
