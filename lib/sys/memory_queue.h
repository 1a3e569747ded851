// Who may run now, so that all together stay below bounds: first come, first served. Pure.
// One that needs more than the bound runs alone. A look (short, small, and perhaps all there is to do) is
// served before the others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace dsbuild {

using ByteCount = unsigned long long;

class MemoryQueue {
 public:
  // At most `places` run at once.
  explicit MemoryQueue(ByteCount bound, size_t places = SIZE_MAX) : bound_(bound), places_(places) {}

  enum class Kind { look, work };
  // To the end of the queue of its kind. `own`: what the one who waits holds himself meanwhile; `needed`:
  // what he holds when he runs, his own among it. One who runs or waits already gives back what he had.
  void enter(int id, Kind kind, ByteCount own, ByteCount needed);
  // Whether it waits, runs or is not known.
  void leave(int id);
  // More has been learnt of what it needs. One who waits keeps his place; of one who runs only more counts:
  // he has been given what was asked for.
  void expect(int id, ByteCount needed);
  // Those who may run, in their order; they run from now on.
  std::vector<int> admit();
  // By what runs and what waits. More than the bound only while one runs alone.
  ByteCount used() const;
  ByteCount bound() const { return bound_; }
  // While nobody waits; else 0.
  size_t idle_places() const;
  // Whether who waits would wait whatever he needs.
  bool is_full() const { return running_.size() >= places_; }

 private:
  struct Waiting {
    int id;
    Kind kind;
    ByteCount own, needed;
  };
  bool may_run(const Waiting& first) const;
  ByteCount bound_;
  size_t places_;
  std::deque<Waiting> waiting_;  // looks first
  std::map<int, ByteCount> running_;
};

}  // namespace dsbuild
