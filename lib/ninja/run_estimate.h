// Estimates the remaining time of a graph's run. It simulates the remaining edges with their times in earlier
// builds or with guesses, and corrects these by the times of this run's edges. The estimate counts down as
// time passes. If the run turns out to be longer, the estimate rises once in a step, and again only if the
// run exceeds that step, too.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ninja/ninja_run.h"
#include "plan/rehearsal.h"

namespace dsbuild {

struct ExpectedEdge {
  const Edge* edge = nullptr;
  double seconds = 0;
  ByteCount peak_bytes = 0;
  bool measured = false;  // by an earlier run; else guessed
};

// How long a run of a graph is expected to take.
struct ExpectedRun {
  std::vector<ExpectedEdge> edges;  // edges that will run, in the plan's order
  int jobs = 1;
  ByteCount memory_bytes = ~ByteCount{0};
};

class RunEstimate {
 public:
  struct Announcement {
    double seconds = 0;       // time of the announcement, since the run began
    double seconds_left = 0;  // the announced time
  };
  // `waited`: returns how long the edge with this output has waited for memory; this does not count as work.
  RunEstimate(const ExpectedRun& expected, std::function<double()> clock,
              std::function<double(const std::string&)> waited);
  void on_event(const EdgeEvent& event);
  // Computes a new estimate at most once a second; nullopt: nothing is known about the edges.
  std::optional<double> seconds_left();
  // The elapsed part of the run's expected time, 0 to 99; never decreases.
  int percent();
  // All announcements; a subset of them if there are many.
  const std::vector<Announcement>& said() const { return said_; }

 private:
  // Sums over similar edges, whose estimates have similar errors.
  struct Tally {
    double expected = 0;         // expected seconds of all edges
    double known = 0, took = 0;  // of edges whose time this run shows: expected and actual seconds
    int edges = 0;
    // The ratio of actual to expected time; close to `before` while little is known.
    double factor(double before) const;
  };
  struct Part {
    ExpectedEdge expected{};
    EdgeLeft::State state = EdgeLeft::State::waits;
    double begin = 0;
    std::string population{};  // all measured edges, or all guessed ones
    std::string group{};       // edges of its kind in the population
    std::string sisters{};     // the slices of its source; "": it is no slice
  };

  void think(double now);
  void note(const Announcement& said);
  static void count(const Part& part, double took, std::map<std::string, Tally>& tallies);
  void count_overdue(std::map<std::string, Tally>& tallies) const;
  const Tally* sisters_of(const Part& part) const;  // nullptr if a guess is better
  double worked(const Part& part) const;
  double seconds_of(const Part& part, const std::map<std::string, Tally>& tallies) const;
  EdgeLeft left_of(const Part& part, const std::map<std::string, Tally>& tallies) const;

  const std::function<double()> clock_;
  const std::function<double(const std::string&)> waited_;
  const Rehearsal graph_;
  std::vector<Part> parts_;               // as in graph_
  std::map<std::string, size_t> place_;   // by output
  std::map<std::string, Tally> tallies_;  // of populations and groups
  std::map<std::string, Tally> sisters_;
  const double begin_;
  std::optional<double> thought_;  // when
  double end_ = 0;                 // when the run is said to end
  int steps_ = 0;                  // how often that was too soon
  int percent_ = 0;
  std::vector<Announcement> said_;
  double between_ = 0;  // seconds from one of these to the next
};

}  // namespace dsbuild
