// Finds out what limited the speed of a build, from the times of its edges (timings.h). Pure.
#pragma once

#include "driver/timings.h"

namespace dsbuild {

// How many cores worked at a moment, and why the others were idle; or the same in core-milliseconds over a
// time. An edge that waits for memory or a core does not work. An edge whose compiler has several threads
// counts as that many cores.
struct CoreUse {
  uint64_t busy = 0;
  uint64_t memory = 0;  // idle while an edge waited for memory
  uint64_t jobs = 0;    // idle because --jobs edges ran already, while an edge was ready or waited for a core
  uint64_t dependency = 0;  // idle because no other edge was ready
  uint64_t finished = 0;    // idle because every edge had begun
  bool operator==(const CoreUse&) const = default;
};

// A time span within a graph's run in which these numbers do not change.
struct CoreSpan {
  Milliseconds begin = 0, end = 0;
  CoreUse cores;
  ByteCount set_aside = 0;  // memory that the gate reserved for the running edges
  ByteCount peaks = 0;      // an upper bound of the memory that they used: the sum of their tools' peaks
};

enum class Bound { chain, cores, jobs, memory };
const char* word(Bound bound);  // "chain", "cores", "jobs", "memory"

struct TimingAnalysis {
  // The longest chain of edges, by working time. Each edge uses an output of the one before it.
  std::vector<size_t> chain;
  Milliseconds chain_time = 0;
  Milliseconds graph_time = 0;  // time in which graphs ran
  Milliseconds work_time = 0;   // working time of all edges, times their threads
  CoreUse cores;                // core-milliseconds
  Bound bound = Bound::chain;
};

// In order of time, without gaps inside a graph's run.
std::vector<CoreSpan> core_spans(const Timings& timings);
// Finds the bound of the build. It is memory if cores waited longer for memory than for dependencies, and for
// at least a tenth of all time. Else it is the longer of two times: that of the chain, and that of all work
// divided by the cores (by the jobs if they are fewer).
TimingAnalysis analyse(const Timings& timings);

// Indices of the edges that compile, the slowest first.
std::vector<size_t> slowest_compiles(const Timings& timings);
// How many edges had this result_word. Edges that never began count as "fresh".
size_t count_results(const Timings& timings, const std::string& result);

}  // namespace dsbuild
