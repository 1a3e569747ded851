#include "plan/forecast.h"

#include <algorithm>
#include <limits>

namespace dsbuild {
namespace {

// The edges that run, by their place in the plan, as Ninja and the gate would start them.
class Rehearsal {
 public:
  // `factor`: how much longer edges take than is guessed of them.
  Rehearsal(const ForecastInput& input, const std::set<std::string>& outputs, double factor)
      : input_(input), factor_(factor), queue_(input.memory_bytes) {
    for (const Edge& edge : input.plan.edges)
      if (outputs.count(edge.output) > 0) add(edge);
    for (size_t i = 0; i < edges_.size(); ++i)
      connect(i);
  }

  Forecast run() {
    start_ready();
    while (!running_.empty())
      finish_first();
    return result_;
  }

 private:
  struct Node {
    const Edge* edge;
    EdgeCost cost;
    size_t awaited = 0;  // edges that make its inputs
    std::vector<size_t> users;
  };

  void add(const Edge& edge) {
    maker_[edge.output] = edges_.size();
    for (const std::string& output : edge.more_outputs)
      maker_[output] = edges_.size();
    edges_.push_back({&edge, expected_cost(input_.history, input_.pack, edge), 0, {}});
    ++result_.edges;
    if (is_measured(input_.history, input_.pack, edge))
      ++result_.measured;
    else
      edges_.back().cost.seconds *= factor_;
    result_.written_bytes += edges_.back().cost.output_bytes;
  }

  void connect(size_t user) {
    std::set<size_t> makers;
    for (const auto* inputs : {&edges_[user].edge->inputs, &edges_[user].edge->implicit_inputs})
      for (const std::string& input : *inputs)
        if (const auto maker = maker_.find(input); maker != maker_.end()) makers.insert(maker->second);
    for (const size_t maker : makers)
      edges_[maker].users.push_back(user);
    edges_[user].awaited = makers.size();
    if (makers.empty()) ready_.insert(user);
  }

  void start_ready() {
    for (; started_ < static_cast<size_t>(input_.jobs) && !ready_.empty(); ++started_) {
      const size_t first = *ready_.begin();
      ready_.erase(ready_.begin());
      queue_.enter(static_cast<int>(first), MemoryQueue::Kind::work, 0, edges_[first].cost.peak_bytes);
    }
    for (const int id : queue_.admit())
      running_.emplace(result_.seconds + edges_[static_cast<size_t>(id)].cost.seconds, id);
    result_.memory_bytes = std::max(result_.memory_bytes, queue_.used());
  }

  void finish_first() {
    const auto [end, id] = *running_.begin();
    running_.erase(running_.begin());
    result_.seconds = end;
    queue_.leave(id);
    --started_;
    for (const size_t user : edges_[static_cast<size_t>(id)].users)
      if (--edges_[user].awaited == 0) ready_.insert(user);
    start_ready();
  }

  const ForecastInput& input_;
  const double factor_;
  std::vector<Node> edges_;
  std::map<std::string, size_t> maker_;
  std::set<size_t> ready_;              // in the plan's order
  std::multimap<double, int> running_;  // by the moment of their end
  size_t started_ = 0;                  // of Ninja's jobs, those that are taken
  MemoryQueue queue_;
  Forecast result_;
};

}  // namespace

Forecast forecast_build(const ForecastInput& input, const std::set<std::string>& outputs) {
  constexpr double k_least = 0.5, k_most = 3;
  Forecast forecast = Rehearsal(input, outputs, 1).run();
  forecast.least_seconds = forecast.most_seconds = forecast.seconds;
  if (forecast.measured == forecast.edges) return forecast;
  const auto seconds = [&](double factor) { return Rehearsal(input, outputs, factor).run().seconds; };
  forecast.least_seconds = std::min(seconds(k_least), forecast.seconds);
  forecast.most_seconds = std::max(seconds(k_most), forecast.seconds);
  forecast.written_bytes = 0;
  return forecast;
}

}  // namespace dsbuild
