#include "sys/memory_gate.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

constexpr ByteCount k_bytes_of_gib = 1 << 30;

// Edges named "half" need half of what there is, "all" almost all of it, "more" more.
GateNeeds needs_of(const GateAsk& ask) {
  return {1 << 20, ask.output == "more"  ? 2 * k_bytes_of_gib
                   : ask.output == "all" ? k_bytes_of_gib / 10 * 9
                                         : k_bytes_of_gib / 2};
}
const GateKnowledge needs = {needs_of, {}};

Environment at(const MemoryGate& gate) {
  return {{k_memory_gate_variable, gate.name()}};
}

bool becomes(const std::atomic<bool>& flag, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!flag && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  return flag;
}

// A step of its own process: it works until it is killed.
pid_t start_holder(const Environment& environment, const std::string& output) {
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  const pid_t id = ::fork();
  if (id == 0) {
    MemoryTurn turn(environment, output);
    turn.acquire_full();
    (void)!::write(ready[1], "1", 1);
    while (true)
      ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return id;
}

}  // namespace

TEST_CASE("gate: a step waits until there is memory") {
  auto gate = open_memory_gate({k_bytes_of_gib}, needs).value();
  std::atomic<bool> went_on = false;
  std::thread second;
  {
    MemoryTurn first(at(*gate), "all");
    first.acquire_full();
    second = std::thread([&] {
      MemoryTurn turn(at(*gate), "half");
      turn.acquire_probe();
      turn.acquire_full();
      went_on = true;
    });
    CHECK_FALSE(becomes(went_on, 100ms));
    CHECK(gate->waited_seconds("half") > 0.05);
    CHECK(gate->waited_seconds("all") < 0.05);
    CHECK(gate->waited_seconds("never seen") == 0);
  }
  CHECK(becomes(went_on, 5s));
  second.join();
  const double waited = gate->waited_seconds("half");
  std::this_thread::sleep_for(20ms);
  CHECK(gate->waited_seconds("half") == waited);
  const auto uses = gate->close();
  CHECK(uses.at("half").waited_seconds > 0.05);
  CHECK(uses.at("all").waited_seconds < 0.05);
  CHECK(uses.at("half").needed_alone == 0);
}

TEST_CASE("gate: a wait for a place is counted apart from one for memory") {
  for (const size_t places : {1, 2}) {
    auto gate = open_memory_gate({k_bytes_of_gib, places}, needs).value();
    std::atomic<bool> went_on = false;
    std::thread second;
    {
      MemoryTurn first(at(*gate), "all");
      first.acquire_full();
      second = std::thread([&] {
        MemoryTurn turn(at(*gate), "half");
        turn.acquire_full();
        went_on = true;
      });
      CHECK_FALSE(becomes(went_on, 100ms));
    }
    CHECK(becomes(went_on, 5s));
    second.join();
    const GateUse use = gate->close().at("half");
    CHECK(use.waited_seconds > 0.05);
    CHECK(use.waited_seconds - use.waited_for_core < (places == 1 ? 0.02 : use.waited_seconds + 1e-9));
    CHECK((use.waited_for_core > 0) == (places == 1));
    CHECK(use.turns.at(0).for_core == use.waited_for_core);
  }
}

TEST_CASE("gate: what a killed step held is free, although it could give nothing back") {
  auto gate = open_memory_gate({k_bytes_of_gib}, needs).value();
  const pid_t holder = start_holder(at(*gate), "all");
  std::atomic<bool> went_on = false;
  std::thread second([&] {
    MemoryTurn turn(at(*gate), "all");
    turn.acquire_full();
    went_on = true;
  });
  ::kill(holder, SIGSTOP);
  CHECK_FALSE(becomes(went_on, 100ms));  // as long as it lives, whatever it does
  ::kill(holder, SIGKILL);
  CHECK(becomes(went_on, 5s));
  second.join();
  ::waitpid(holder, nullptr, 0);
}

TEST_CASE("gate: who needs more than all runs alone and is named; tools' peaks are told by who is done") {
  auto gate = open_memory_gate({k_bytes_of_gib}, needs).value();
  {
    MemoryTurn turn(at(*gate), "more");
    turn.acquire_probe();
    turn.add_peak(5);
    turn.add_peak(3);
    turn.acquire_full();
    turn.add_peak(70);
    turn.add_peak(90);
    turn.end(ResultOrigin::tools);
  }
  {
    MemoryTurn unfinished(at(*gate), "half of it");
    unfinished.acquire_probe();
    unfinished.add_peak(8);
  }
  const auto uses = gate->close();
  CHECK(uses.at("more").needed_alone > 2 * k_bytes_of_gib);
  CHECK(uses.at("more").done());
  CHECK(uses.at("more").look_bytes == 5);
  CHECK(uses.at("more").peak_bytes == 90);
  CHECK_FALSE(uses.at("half of it").done());
  CHECK(uses.at("half of it").made_of == ResultOrigin::nothing_said);
  // Both turns, in their order, with what was set aside.
  const auto& turns = uses.at("more").turns;
  REQUIRE(turns.size() == 2);
  CHECK(turns[0].asked <= turns[0].admitted);
  CHECK(turns[0].admitted <= turns[1].asked);
  CHECK(turns[0].bytes > 1 << 20);
  CHECK(turns[1].bytes > 2 * k_bytes_of_gib);
}

TEST_CASE("gate: a step says what it is made of, whether it waited or not, and whatever its name") {
  auto gate = open_memory_gate({k_bytes_of_gib}, needs).value();
  for (const ResultOrigin made_of :
       {ResultOrigin::record, ResultOrigin::cache, ResultOrigin::same_input, ResultOrigin::some_tools})
    MemoryTurn(at(*gate), "a b " + std::to_string(static_cast<int>(made_of))).end(made_of);
  const auto uses = gate->close();
  for (const ResultOrigin made_of :
       {ResultOrigin::record, ResultOrigin::cache, ResultOrigin::same_input, ResultOrigin::some_tools})
    CHECK(uses.at("a b " + std::to_string(static_cast<int>(made_of))).made_of == made_of);
  CHECK(uses.size() == 4);
}

TEST_CASE("gate: without one, or when its build is gone, nobody waits") {
  MemoryTurn none({}, "all");
  none.acquire_full();
  auto gate = open_memory_gate({k_bytes_of_gib}, needs).value();
  const Environment environment = at(*gate);
  MemoryTurn first(environment, "all");
  first.acquire_full();
  std::atomic<bool> went_on = false;
  std::thread second([&] {
    MemoryTurn turn(environment, "all");
    turn.acquire_full();
    went_on = true;
  });
  CHECK_FALSE(becomes(went_on, 50ms));
  gate->close();
  CHECK(becomes(went_on, 5s));
  second.join();
  MemoryTurn late(environment, "all");
  late.acquire_full();
}

TEST_CASE(
    "gate: what was measured of one counts at once for those that wait: smaller ones run side by side") {
  constexpr ByteCount k_guess = k_bytes_of_gib / 2 + 1, k_measured = k_bytes_of_gib / 8;
  std::atomic<ByteCount> needed = k_guess;
  auto gate = open_memory_gate({k_bytes_of_gib},
                               {[&](const GateAsk&) { return GateNeeds{1 << 20, needed}; },
                                [&](const std::string&, const GateUse& use) { needed = use.peak_bytes; }})
                  .value();
  auto first = std::make_unique<MemoryTurn>(at(*gate), "first");
  first->acquire_full();
  std::atomic<int> running = 0;
  std::atomic<bool> both = false, may_end = false;
  const auto work = [&](const char* name) {
    MemoryTurn turn(at(*gate), name);
    turn.acquire_full();
    both = ++running == 2;
    while (!may_end)
      std::this_thread::sleep_for(1ms);
  };
  std::thread second(work, "second"), third(work, "third");
  CHECK_FALSE(becomes(both, 100ms));
  CHECK(running == 0);
  first->add_peak(k_measured);
  first->end(ResultOrigin::tools);
  first.reset();
  CHECK(becomes(both, 5s));  // by the guess one would wait for the other
  may_end = true;
  second.join();
  third.join();
  const auto uses = gate->close();
  for (const char* name : {"second", "third"})
    CHECK(uses.at(name).turns.back().bytes < k_guess);
}

TEST_CASE(
    "gate: a step says how long the text is that its tools are to read, and whether some is of torch's") {
  std::vector<GateAsk> asks;
  auto gate = open_memory_gate({k_bytes_of_gib}, {[&](const GateAsk& ask) {
                                                    asks.push_back(ask);
                                                    return GateNeeds{1, 1};
                                                  },
                                                  {}})
                  .value();
  MemoryTurn turn(at(*gate), "a b");
  turn.acquire_probe();
  turn.acquire_full({18'300'000, true});
  gate->close();
  REQUIRE(asks.size() == 2);
  CHECK(asks[0].text.bytes == 0);
  CHECK_FALSE(asks[0].text.reads_torch);
  CHECK(asks[1].output == "a b");
  CHECK(asks[1].text.bytes == 18'300'000);
  CHECK(asks[1].text.reads_torch);
}
