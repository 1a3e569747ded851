#include "plan/rehearsal.h"

#include <algorithm>

namespace dsbuild {

Rehearsal::Rehearsal(std::vector<RehearsedEdge> edges, int jobs, ByteCount memory_bytes)
    : edges_(std::move(edges)),
      jobs_(jobs),
      memory_bytes_(memory_bytes),
      users_(edges_.size()),
      makers_(edges_.size()) {
  for (size_t i = 0; i < edges_.size(); ++i) {
    maker_[edges_[i].edge->output] = i;
    for (const std::string& output : edges_[i].edge->more_outputs)
      maker_[output] = i;
  }
  for (size_t i = 0; i < edges_.size(); ++i)
    connect(i);
}

void Rehearsal::connect(size_t user) {
  std::set<size_t> makers;
  const Edge& edge = *edges_[user].edge;
  for (const auto* inputs : {&edge.inputs, &edge.implicit_inputs})
    for (const std::string& input : *inputs)
      if (const auto maker = maker_.find(input); maker != maker_.end()) makers.insert(maker->second);
  for (const size_t maker : makers)
    users_[maker].push_back(user);
  makers_[user].assign(makers.begin(), makers.end());
}

class Rehearsal::Play {
 public:
  Play(const Rehearsal& graph, const std::vector<EdgeLeft>& left)
      : graph_(graph), left_(left), awaited_(left.size()), queue_(graph.memory_bytes_) {
    for (size_t i = 0; i < left.size(); ++i) {
      if (left[i].state == EdgeLeft::State::ended) continue;
      awaited_[i] = static_cast<size_t>(std::ranges::count_if(
          graph.makers_[i], [&](size_t maker) { return left[maker].state != EdgeLeft::State::ended; }));
      if (left[i].state == EdgeLeft::State::runs)
        start(i);
      else if (awaited_[i] == 0)
        ready_.insert(i);
    }
  }

  Result run() {
    start_ready();
    while (!running_.empty())
      finish_first();
    return result_;
  }

 private:
  void start(size_t place) {
    ++started_;
    queue_.enter(static_cast<int>(place), MemoryQueue::Kind::work, 0, graph_.edges_[place].peak_bytes);
  }

  void start_ready() {
    while (started_ < static_cast<size_t>(graph_.jobs_) && !ready_.empty()) {
      const size_t first = *ready_.begin();
      ready_.erase(ready_.begin());
      start(first);
    }
    for (const int id : queue_.admit())
      running_.emplace(result_.seconds + left_[static_cast<size_t>(id)].seconds, id);
    result_.memory_bytes = std::max(result_.memory_bytes, queue_.used());
  }

  void finish_first() {
    const auto [end, id] = *running_.begin();
    running_.erase(running_.begin());
    result_.seconds = end;
    queue_.leave(id);
    --started_;
    for (const size_t user : graph_.users_[static_cast<size_t>(id)])
      if (--awaited_[user] == 0 && left_[user].state == EdgeLeft::State::waits) ready_.insert(user);
    start_ready();
  }

  const Rehearsal& graph_;
  const std::vector<EdgeLeft>& left_;
  std::vector<size_t> awaited_;         // edges that make its inputs and have not ended
  std::set<size_t> ready_;              // in the plan's order
  std::multimap<double, int> running_;  // by the moment of their end
  size_t started_ = 0;                  // of Ninja's jobs, those that are taken
  MemoryQueue queue_;
  Result result_;
};

Rehearsal::Result Rehearsal::from_nothing() const {
  std::vector<EdgeLeft> left;
  for (const RehearsedEdge& edge : edges_)
    left.push_back({EdgeLeft::State::waits, edge.seconds});
  return from(left);
}

Rehearsal::Result Rehearsal::from(const std::vector<EdgeLeft>& left) const {
  return Play(*this, left).run();
}

}  // namespace dsbuild
