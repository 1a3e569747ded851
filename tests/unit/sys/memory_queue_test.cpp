#include "sys/memory_queue.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "support/sample.h"

using namespace dsbuild;

namespace {

constexpr auto k_look = MemoryQueue::Kind::look;
constexpr auto k_work = MemoryQueue::Kind::work;

using Ids = std::vector<int>;

}  // namespace

TEST_CASE("memory: who fits runs, who does not waits until another leaves") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 0, 60);
  queue.enter(2, k_work, 0, 40);
  queue.enter(3, k_work, 0, 1);
  CHECK(queue.admit() == Ids{1, 2});
  CHECK(queue.admit().empty());
  queue.leave(2);
  CHECK(queue.admit() == Ids{3});
}

TEST_CASE("memory: first come, first served, so that a large one is not passed by for ever") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 0, 50);
  CHECK(queue.admit() == Ids{1});
  queue.enter(2, k_work, 0, 90);
  queue.enter(3, k_work, 0, 10);
  CHECK(queue.admit().empty());
  queue.leave(1);
  CHECK(queue.admit() == Ids{2, 3});
}

TEST_CASE("memory: who needs more than all runs alone") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 0, 10);
  queue.enter(2, k_work, 0, 500);
  queue.enter(3, k_work, 0, 10);
  CHECK(queue.admit() == Ids{1});
  queue.leave(1);
  CHECK(queue.admit() == Ids{2});
  CHECK(queue.used() == 500);
  queue.leave(2);
  CHECK(queue.admit() == Ids{3});
}

TEST_CASE("memory: a look does not wait behind work, and its memory counts as all other") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 0, 80);
  CHECK(queue.admit() == Ids{1});
  queue.enter(2, k_work, 0, 80);
  queue.enter(3, k_look, 0, 15);
  queue.enter(4, k_look, 0, 15);
  CHECK(queue.admit() == Ids{3});
  queue.leave(3);
  CHECK(queue.admit() == Ids{4});
}

TEST_CASE("memory: what those who wait hold themselves counts") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 30, 60);
  CHECK(queue.admit() == Ids{1});
  queue.enter(2, k_work, 30, 60);
  CHECK(queue.admit().empty());
  CHECK(queue.used() == 90);
  queue.enter(3, k_work, 0, 1);
  CHECK(queue.used() == 90);
}

TEST_CASE("memory: who asks anew gives back what he had, so that nobody holds while he waits") {
  MemoryQueue queue(100);
  queue.enter(1, k_look, 0, 50);
  queue.enter(2, k_look, 0, 50);
  CHECK(queue.admit() == Ids{1, 2});
  queue.enter(1, k_work, 5, 90);
  queue.enter(2, k_work, 5, 90);
  CHECK(queue.admit() == Ids{1});
  queue.leave(1);
  CHECK(queue.admit() == Ids{2});
}

TEST_CASE("memory: one who waits and is killed is forgotten") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 0, 100);
  CHECK(queue.admit() == Ids{1});
  queue.enter(2, k_work, 20, 100);
  queue.enter(3, k_work, 20, 100);
  queue.leave(2);
  queue.leave(1);
  CHECK(queue.admit() == Ids{3});
}

TEST_CASE("memory: fewer of those that wait are let in once they are expected to need more") {
  const auto admitted = [](ByteCount expected) {
    MemoryQueue queue(100);
    queue.enter(1, k_work, 0, 90);
    CHECK(queue.admit() == Ids{1});
    for (const int id : {2, 3, 4, 5})
      queue.enter(id, k_work, 0, 20);
    for (const int id : {2, 3, 4, 5})
      queue.expect(id, expected);
    queue.leave(1);
    return queue.admit();
  };
  CHECK(admitted(20) == Ids{2, 3, 4, 5});
  CHECK(admitted(45) == Ids{2, 3});
  CHECK(admitted(5) == Ids{2, 3, 4, 5});
}

TEST_CASE("memory: one who runs is not let in again, and gives nothing back, but more counts from now on") {
  MemoryQueue queue(100);
  queue.enter(1, k_work, 0, 40);
  queue.enter(2, k_work, 0, 80);
  CHECK(queue.admit() == Ids{1});
  queue.expect(1, 10);
  CHECK(queue.used() == 40);
  queue.expect(2, 50);
  queue.expect(1, 60);
  CHECK(queue.used() == 60);
  CHECK(queue.admit().empty());
  queue.expect(3, 1);  // nobody's
  queue.expect(2, 40);
  CHECK(queue.admit() == Ids{2});
  CHECK(queue.used() == 100);
}

// Each of many edges looks, then works or finds nothing to do, or is killed wherever it is.
TEST_CASE(
    "memory: in whatever order edges come and go, never above the bound but alone, and all are served") {
  std::mt19937 generator(sample_seed());
  const auto pick = [&](ByteCount most) {
    return std::uniform_int_distribution<ByteCount>(0, most)(generator);
  };
  for (int round = 0; round < 200; ++round) {
    constexpr ByteCount k_bound = 1000;
    MemoryQueue queue(k_bound);
    std::map<int, bool> running;  // whether it has only looked
    std::vector<int> work_asked, work_admitted;
    std::set<int> there;
    const int edges = 60;
    const size_t slots = 1 + pick(15);
    int next = 0, ended = 0, steps = 0;
    while (ended < edges) {
      REQUIRE(++steps < 10'000);
      if (there.size() < slots && next < edges) {
        there.insert(next);
        queue.enter(next++, k_look, 0, 1 + pick(20));
      }
      for (const int id : queue.admit()) {
        const bool is_work = std::find(work_asked.begin(), work_asked.end(), id) != work_asked.end();
        running[id] = !is_work;
        if (is_work) work_admitted.push_back(id);
      }
      REQUIRE_FALSE(running.empty());
      REQUIRE((queue.used() <= k_bound || running.size() == 1));
      if (pick(3) == 0) continue;
      auto chosen = running.begin();
      std::advance(chosen, pick(running.size() - 1));
      const auto [id, looked] = *chosen;
      running.erase(chosen);
      if (looked && pick(2) > 0) {
        work_asked.push_back(id);
        queue.enter(id, k_work, 0, pick(20) == 0 ? 1500 : pick(400));
      } else {
        queue.leave(id);
        there.erase(id);
        ++ended;
      }
    }
    CHECK(work_admitted == work_asked);
    CHECK(queue.used() == 0);
  }
}
