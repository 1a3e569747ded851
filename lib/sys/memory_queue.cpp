#include "sys/memory_queue.h"

#include <algorithm>

namespace dsbuild {

void MemoryQueue::enter(int id, Kind kind, ByteCount own, ByteCount needed) {
  leave(id);
  const auto place = kind == Kind::work
                         ? waiting_.end()
                         : std::find_if(waiting_.begin(), waiting_.end(),
                                        [](const Waiting& other) { return other.kind == Kind::work; });
  waiting_.insert(place, {id, kind, own, std::max(own, needed)});
}

void MemoryQueue::leave(int id) {
  std::erase_if(waiting_, [id](const Waiting& other) { return other.id == id; });
  running_.erase(id);
}

void MemoryQueue::expect(int id, ByteCount needed) {
  for (Waiting& each : waiting_)
    if (each.id == id) each.needed = std::max(each.own, needed);
  if (const auto running = running_.find(id); running != running_.end())
    running->second = std::max(running->second, needed);
}

std::vector<int> MemoryQueue::admit() {
  std::vector<int> admitted;
  while (!waiting_.empty() && may_run(waiting_.front())) {
    const Waiting first = waiting_.front();
    waiting_.pop_front();
    running_[first.id] = first.needed;
    admitted.push_back(first.id);
  }
  return admitted;
}

ByteCount MemoryQueue::used() const {
  ByteCount sum = 0;
  for (const auto& [id, bytes] : running_)
    sum += bytes;
  for (const Waiting& each : waiting_)
    sum += each.own;
  return sum;
}

bool MemoryQueue::may_run(const Waiting& first) const {
  return running_.empty() || (running_.size() < places_ && used() - first.own + first.needed <= bound_);
}

size_t MemoryQueue::idle_places() const {
  return waiting_.empty() && running_.size() < places_ ? places_ - running_.size() : 0;
}

}  // namespace dsbuild
