// Decides which edges may run now, so that all together stay below limits: first come, first served. Pure. An
// edge that needs more than the limit runs alone. A probe ("look") goes first: it is short and small, and may
// be all that there is to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace dsbuild {

using ByteCount = unsigned long long;

class MemoryQueue {
 public:
  // At most `places` run at the same time.
  explicit MemoryQueue(ByteCount bound, size_t places = SIZE_MAX) : bound_(bound), places_(places) {}

  enum class Kind { look, work };
  // Appends an edge to the queue of its kind. `own`: the memory that it holds while it waits. `needed`: the
  // memory that it holds when it runs, including `own`. If it already runs or waits, it first gives back its
  // memory.
  void enter(int id, Kind kind, ByteCount own, ByteCount needed);
  // Removes an edge, whether it waits, runs or is unknown.
  void leave(int id);
  // Changes the needs of an edge. A waiting edge keeps its place. For a running edge only an increase counts,
  // because it was admitted with the old needs.
  void expect(int id, ByteCount needed);
  // Returns the edges that may run, in order; they count as running from now on.
  std::vector<int> admit();
  // The memory held by running and waiting edges. Exceeds the limit only while one edge runs alone.
  ByteCount used() const;
  ByteCount bound() const { return bound_; }
  // The free places while no edge waits; else 0.
  size_t idle_places() const;
  // Whether waiting edges would wait even if they needed no memory.
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
