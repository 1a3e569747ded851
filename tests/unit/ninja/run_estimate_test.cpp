#include "ninja/run_estimate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace dsbuild;

namespace {

// A run of edges that are ready at once, on so many jobs; what is expected of them, and what they take.
struct Run {
  struct Planned {
    double expected = 0, takes = 0;
    bool measured = true;
  };

  Run(const std::vector<Planned>& planned, int jobs) : planned_(planned), jobs_(jobs) {
    graph_.edges.resize(planned.size());
    for (size_t i = 0; i < planned.size(); ++i) {
      graph_.edges[i].kind = EdgeKind::cxx_compile;
      graph_.edges[i].source = graph_.edges[i].output = std::to_string(i);
      expected_.edges.push_back({&graph_.edges[i], planned[i].expected, 1, planned[i].measured});
    }
    expected_.jobs = jobs;
  }

  // Plays it, asking four times a second.
  void play() {
    RunEstimate estimate(expected_, [this] { return now_; }, [](const std::string&) { return 0.0; });
    std::vector<std::pair<double, size_t>> running;  // end, edge
    size_t next = 0;
    while (next < planned_.size() || !running.empty()) {
      for (; next < planned_.size() && running.size() < static_cast<size_t>(jobs_); ++next) {
        estimate.on_event({EdgeEventKind::started, &graph_.edges[next], 0, 0, 0, {}, {}, {}});
        running.emplace_back(now_ + planned_[next].takes, next);
      }
      const auto first = std::min_element(running.begin(), running.end());
      if (now_ < first->first) {
        (void)estimate.seconds_left();
        percents.push_back(estimate.percent());
        now_ = std::min(now_ + 0.25, first->first);
        continue;
      }
      estimate.on_event({EdgeEventKind::ended, &graph_.edges[first->second], 0, 0, 0, {}, {}, {}});
      running.erase(first);
    }
    said = estimate.said();
  }

  // The median of |told - true| / true, but for the last seconds.
  double median_error() const {
    std::vector<double> errors;
    for (const RunEstimate::Announcement& each : said)
      if (const double left = now_ - each.seconds; left > 2)
        errors.push_back(std::abs(each.seconds_left - left) / left);
    std::sort(errors.begin(), errors.end());
    return errors.empty() ? 0 : errors[errors.size() / 2];
  }

  // The longest time in which each number is larger than the one before it.
  double longest_rise() const {
    double longest = 0, begin = 0;
    for (size_t i = 1; i < said.size(); ++i) {
      if (said[i].seconds_left <= said[i - 1].seconds_left) begin = said[i].seconds;
      longest = std::max(longest, said[i].seconds - begin);
    }
    return longest;
  }

  double seconds() const { return now_; }
  std::vector<RunEstimate::Announcement> said;
  std::vector<int> percents;

 private:
  const std::vector<Planned> planned_;
  const int jobs_;
  BuildPlan graph_;
  ExpectedRun expected_;
  double now_ = 0;
};

// Edges of many lengths. `spread`: of what they take around `factor` times what is expected of them.
std::vector<Run::Planned> random_edges(unsigned seed, double factor, double spread, bool measured) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> length(2, 1), noise(std::log(factor), spread);
  std::vector<Run::Planned> edges(60);
  for (Run::Planned& edge : edges) {
    edge.expected = length(random);
    edge.takes = edge.expected * noise(random);
    edge.measured = measured;
  }
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.expected > b.expected; });
  return edges;
}

}  // namespace

TEST_CASE("what is left is what the edges that are left take on so many jobs") {
  Run run({{30, 30}, {20, 20}, {10, 10}}, 2);
  run.play();
  CHECK(run.seconds() == Approx(30));
  REQUIRE(run.said.size() == 30);
  for (const RunEstimate::Announcement& each : run.said)
    CHECK(each.seconds_left == Approx(30 - each.seconds).margin(2));
  CHECK(std::is_sorted(run.percents.begin(), run.percents.end()));
  CHECK(run.percents.back() >= 90);
}

TEST_CASE("where edges take longer than before, so will those that are left") {
  std::vector<Run::Planned> edges(20, {5, 15});
  Run run(edges, 1);
  run.play();
  const auto told =
      std::find_if(run.said.begin(), run.said.end(), [](const auto& each) { return each.seconds >= 100; });
  REQUIRE(told != run.said.end());
  CHECK(told->seconds_left == Approx(200).epsilon(0.15));
}

TEST_CASE("results that are found soon tell that others will be found") {
  std::vector<Run::Planned> edges(100, {10, 0.1});
  Run run(edges, 2);
  run.play();
  CHECK(run.seconds() == Approx(5));
  REQUIRE(run.said.size() >= 3);
  CHECK(run.said[0].seconds_left == Approx(500));
  CHECK(run.said[2].seconds_left < 150);
}

TEST_CASE("known edges are estimated within a quarter, guessed ones within six tenths") {
  for (const int jobs : {1, 2, 4}) {
    std::vector<double> known, guessed;
    for (unsigned seed = 1; seed <= 9; ++seed) {
      Run second(random_edges(seed, 1.1, 0.15, true), jobs);
      second.play();
      known.push_back(second.median_error());
      Run first(random_edges(seed, seed % 2 == 0 ? 0.5 : 2.5, 0.6, false), jobs);
      first.play();
      guessed.push_back(first.median_error());
    }
    std::sort(known.begin(), known.end());
    std::sort(guessed.begin(), guessed.end());
    INFO("jobs: " << jobs);
    CHECK(known[4] < 0.15);
    CHECK(known.back() < 0.25);
    CHECK(guessed[4] < 0.4);
    CHECK(guessed.back() < 0.6);
  }
}

TEST_CASE("the time that is left does not go up for long, however long an edge takes") {
  for (const double takes : {10.0, 100.0, 500.0}) {
    Run run({{10, takes, false}, {10, 10, false}, {10, 10, false}}, 1);
    run.play();
    CHECK(run.longest_rise() <= 2);
  }
}

TEST_CASE("of a long run no more is kept than of a short one, and from all of it") {
  Run run({{3000, 3000}}, 1);
  run.play();
  CHECK(run.said.size() < 600);
  CHECK(run.said.size() > 200);
  CHECK(run.said.back().seconds > 2900);
}

TEST_CASE("where nothing is known, nothing is said") {
  RunEstimate estimate({}, [] { return 0.0; }, [](const std::string&) { return 0.0; });
  CHECK_FALSE(estimate.seconds_left());
  CHECK(estimate.percent() == 0);
  CHECK(estimate.said().empty());
}
