// Simulates how Ninja and the memory gate run the edges of a graph, with a number of jobs and a memory limit.
// An edge starts when the edges that make its inputs have ended; ready edges start in the plan's order. Pure.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/build_plan.h"
#include "sys/memory_queue.h"

namespace dsbuild {

struct RehearsedEdge {
  const Edge* edge = nullptr;
  double seconds = 0;
  ByteCount peak_bytes = 0;
};

// The remaining time of an edge in a run that has begun.
struct EdgeLeft {
  enum class State { waits, runs, ended } state = State::waits;
  double seconds = 0;
};

class Rehearsal {
 public:
  // `edges`: in the plan's order.
  Rehearsal(std::vector<RehearsedEdge> edges, int jobs, ByteCount memory_bytes);
  struct Result {
    double seconds = 0;
    ByteCount memory_bytes = 0;  // the largest sum over all edges that ran at once
  };
  Result from_nothing() const;
  // `left`: one for each edge.
  Result from(const std::vector<EdgeLeft>& left) const;
  const std::vector<RehearsedEdge>& edges() const { return edges_; }

 private:
  class Play;
  void connect(size_t user);

  std::vector<RehearsedEdge> edges_;
  const int jobs_;
  const ByteCount memory_bytes_;
  std::map<std::string, size_t> maker_;
  std::vector<std::vector<size_t>> users_;   // by the index of the edge whose outputs they use
  std::vector<std::vector<size_t>> makers_;  // of an edge's inputs
};

}  // namespace dsbuild
