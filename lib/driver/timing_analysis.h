// What bounds a build, derived from what its edges took (timings.h): nothing is sampled. Pure.
#pragma once

#include "driver/timings.h"

namespace dsbuild {

// Cores at a moment, or core-milliseconds of a while: what worked, and why the others did not. An edge that
// waits for memory or a core does not work; one whose compiler was given several threads counts as that many.
struct CoreUse {
  uint64_t busy = 0;
  uint64_t memory = 0;      // an edge waited for memory
  uint64_t jobs = 0;        // an edge was ready, or waited for a core, and as many ran as may run at once
  uint64_t dependency = 0;  // no other edge was ready
  uint64_t finished = 0;    // every edge had begun
  bool operator==(const CoreUse&) const = default;
};

// The same for as long as nothing changes; while a graph ran.
struct CoreSpan {
  Milliseconds begin = 0, end = 0;
  CoreUse cores;
  ByteCount set_aside = 0;  // memory, for all edges that ran, by what was expected of them
  ByteCount peaks = 0;      // the most that they can have held: the sum of their tools' peaks
};

enum class Bound { chain, cores, jobs, memory };
const char* word(Bound bound);  // "chain", "cores", "jobs", "memory"

struct TimingAnalysis {
  // The longest chain of edges each of which uses what the one before it made, by the time that they worked.
  std::vector<size_t> chain;
  Milliseconds chain_time = 0;
  Milliseconds graph_time = 0;  // how long graphs ran
  Milliseconds work_time = 0;   // of all edges together, by threads
  CoreUse cores;                // core-milliseconds
  Bound bound = Bound::chain;
};

// In time order, without gaps inside a graph's run.
std::vector<CoreSpan> core_spans(const Timings& timings);
// Finds the bound of the build. It is memory where cores idled for it longer than for dependencies, and for a
// tenth of all time at least. Else it is the longer one of the chain and of all work shared among cores (or
// jobs, where they are fewer).
TimingAnalysis analyse(const Timings& timings);

// Those that compile, the slowest first.
std::vector<size_t> slowest_compiles(const Timings& timings);
// How many edges had this result ("made", …); of "fresh", those that never began too.
size_t count_results(const Timings& timings, const std::string& result);

}  // namespace dsbuild
