// How long a run of a graph goes on: the edges that are left are played through as Ninja would start them, by
// what they took before or what is guessed of them, corrected by what those of this run took. What it says
// goes down as time passes. It goes up in a step where the run turns out to be longer, and no further until
// the run is longer than that, too.
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
  std::vector<ExpectedEdge> edges;  // those that are due, in the plan's order
  int jobs = 1;
  ByteCount memory_bytes = ~ByteCount{0};
};

class RunEstimate {
 public:
  struct Announcement {
    double seconds = 0;       // when, since the run began
    double seconds_left = 0;  // what was said
  };
  // `waited`: how long the edge of this output has waited for memory, which is no work.
  RunEstimate(const ExpectedRun& expected, std::function<double()> clock,
              std::function<double(const std::string&)> waited);
  void on_event(const EdgeEvent& event);
  // Once a second at most it is thought over; nullopt: nothing is known of the edges.
  std::optional<double> seconds_left();
  // Of the whole run's time, 0 to 99; it never goes back.
  int percent();
  // All that was said, thinned out where that is much.
  const std::vector<Announcement>& said() const { return said_; }

 private:
  // Of edges that are alike, and whose guesses are wrong alike.
  struct Tally {
    double expected = 0;         // seconds, of all of them
    double known = 0, took = 0;  // of those that this run shows: expected, taken
    int edges = 0;
    // How much longer they take than was expected; `before` stands for it while little is known.
    double factor(double before) const;
  };
  struct Part {
    ExpectedEdge expected{};
    EdgeLeft::State state = EdgeLeft::State::waits;
    double begin = 0;
    std::string population{};  // all that is measured, or all that is guessed
    std::string group{};       // of these, edges of its kind
    std::string sisters{};     // slices of its source; "": it is no slice
  };

  void think(double now);
  void note(const Announcement& said);
  static void count(const Part& part, double took, std::map<std::string, Tally>& tallies);
  void count_overdue(std::map<std::string, Tally>& tallies) const;
  const Tally* sisters_of(const Part& part) const;  // where they say more than a guess does
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
