#include "ninja/progress.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

BuildPlan plan_of_two() {
  BuildPlan plan;
  Edge compile;
  compile.kind = EdgeKind::cuda_compile;
  compile.op = "adam";
  compile.source = "adam.cu";
  compile.output = "obj/adam/adam.o";
  Edge link;
  link.kind = EdgeKind::link;
  link.op = "adam";
  link.output = "lib/adam.so";
  link.inputs = {compile.output};
  plan.edges = {compile, link};
  return plan;
}

// Progress of a run of two edges, and what it writes.
struct Shown {
  // `seconds`: what the edges took before; none: nothing is known of them.
  explicit Shown(Progress::Options options, const std::vector<double>& seconds = {})
      : estimate(
            expected(seconds), [this] { return time; }, [](const std::string&) { return 0.0; }),
        progress(
            options, estimate, [this](std::string_view piece) { text += piece; }, [this] { return time; },
            [] { return "12:00:00"; }) {}

  ExpectedRun expected(const std::vector<double>& seconds) {
    ExpectedRun run{{}, 2};
    for (size_t i = 0; i < seconds.size(); ++i)
      run.edges.push_back({&plan.edges[i], seconds[i], 1, true});
    return run;
  }
  void tell(EdgeEventKind kind, size_t edge, double seconds, int finished, int total,
            const std::string& reason = {}) {
    const EdgeEvent event{kind, &plan.edges[edge], seconds, finished, total, {}, {}, reason};
    estimate.on_event(event);
    progress.on_event(event);
  }
  std::string take() { return std::exchange(text, {}); }

  BuildPlan plan = plan_of_two();
  double time = 100;
  std::string text;
  RunEstimate estimate;
  Progress progress;
};

Progress::Options live(int columns) {
  return {.live = true, .columns = columns};
}

}  // namespace

TEST_CASE(
    "away from a terminal there is one timestamped line per finished edge and a heartbeat for a long one") {
  Shown shown({});
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  shown.time = 129;
  shown.progress.on_tick();
  CHECK(shown.take().empty());
  shown.time = 131;
  shown.progress.on_tick();
  shown.progress.on_tick();
  CHECK(shown.take() == "12:00:00 [0/2] compile adam: adam.cu still running after 31.0 s\n");
  shown.tell(EdgeEventKind::finished, 0, 33.21, 1, 2);
  CHECK(shown.text == "12:00:00 [1/2] compile adam: adam.cu 33.2 s\n");
  CHECK(shown.text.find('\r') == std::string::npos);
}

TEST_CASE("why an edge ran is said of those who ask for more") {
  for (const bool asked : {false, true}) {
    Shown shown({.reasons = asked});
    shown.tell(EdgeEventKind::finished, 0, 1, 1, 2, "inc/v.h has changed");
    const std::string line = "12:00:00 [1/2] compile adam: adam.cu 1.0 s";
    CHECK(shown.text == line + (asked ? ": inc/v.h has changed\n" : "\n"));
  }
}

TEST_CASE("on a terminal one live line shows what runs, never wider than the terminal") {
  Shown shown(live(30));
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  CHECK(shown.text == "\r[0/2] 0.0 s  compile adam: ad\x1b[K");
  shown.progress.finish();
  CHECK(shown.text.ends_with("\r\x1b[K"));
}

TEST_CASE("what has ended does not run any more") {
  Shown shown({});
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  shown.tell(EdgeEventKind::ended, 0, 1, 1, 2);
  shown.time = 200;
  shown.progress.on_tick();
  CHECK(shown.text.empty());
}

TEST_CASE("how far a build is and how long it goes on is told by what its edges took before") {
  Shown shown(live(80), {90, 10});
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  shown.time = 145;
  shown.take();
  shown.progress.on_tick();
  CHECK(shown.take() == "\r[=======>         ] [0/2] 45% 45.0 s, ~55 s left  compile adam: adam.cu\x1b[K");
  shown.time = 190;
  shown.tell(EdgeEventKind::ended, 0, 90, 1, 2);
  shown.take();
  shown.tell(EdgeEventKind::finished, 0, 90, 1, 2);
  CHECK(shown.text == "\r[===============> ] [1/2] 90% 1 min 30 s, ~10 s left\x1b[K");
}

TEST_CASE("a terminal that is too narrow for a bar has none") {
  Shown shown(live(79), {90, 10});
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  CHECK(shown.take() == "\r[0/2] 0% 0.0 s, ~2 min left  compile adam: adam.cu\x1b[K");
}

TEST_CASE("a bar is full at the end, and never wider than its frame") {
  Shown shown(live(400), {1, 1});
  shown.time = 500;
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  CHECK(shown.text.find("[" + std::string(29, '=') + ">] ") == 1);
}

TEST_CASE("of many that run, as many are named as have room") {
  Shown shown(live(49));
  shown.tell(EdgeEventKind::started, 0, 0, 0, 2);
  shown.take();
  shown.tell(EdgeEventKind::started, 1, 0, 0, 2);
  CHECK(shown.take() == "\r[0/2] 0.0 s  compile adam: adam.cu  link adam\x1b[K");
  shown.tell(EdgeEventKind::started, 0, 0, 0, 3);
  CHECK(shown.text == "\r[0/3] 0.0 s  compile adam: adam.cu  +2\x1b[K");
}
