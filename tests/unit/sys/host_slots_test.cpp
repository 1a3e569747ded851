#include "sys/host_slots.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <future>
#include <thread>
#include <vector>

#include "support/temp_folder.h"

namespace dsbuild {
namespace {

using namespace std::chrono_literals;

std::future<std::unique_ptr<HostSlot>> ask(const Path& folder, const NodeBound& bound, ByteCount bytes) {
  return std::async(std::launch::async, [=] {
    auto turn = take_node_turn(folder, bound, bytes);
    REQUIRE(turn);
    return std::move(*turn);
  });
}

bool is_there(const std::future<std::unique_ptr<HostSlot>>& turn) {
  return turn.wait_for(200ms) == std::future_status::ready;
}

}  // namespace

TEST_CASE("Turns of a node are as many as there are cores, and below the bound of memory") {
  const TempFolder folder;
  const NodeBound bound{2, 100};
  auto first = ask(folder.path(), bound, 10), second = ask(folder.path(), bound, 10);
  auto held = first.get();
  auto also_held = second.get();
  auto third = ask(folder.path(), bound, 10);
  CHECK_FALSE(is_there(third));
  held.reset();
  REQUIRE(is_there(third));
  held = third.get();
  also_held.reset();
  auto large = ask(folder.path(), bound, 95);
  CHECK_FALSE(is_there(large));
  held.reset();
  CHECK(is_there(large));
}

TEST_CASE("What needs more than the bound is alone") {
  const TempFolder folder;
  auto alone = ask(folder.path(), {8, 100}, 1000).get();
  auto other = ask(folder.path(), {8, 100}, 1);
  CHECK_FALSE(is_there(other));
  alone.reset();
  CHECK(is_there(other));
}

TEST_CASE("Who waits for much is not passed by those who come later") {
  const TempFolder folder;
  auto running = ask(folder.path(), {8, 100}, 60).get();
  auto large = ask(folder.path(), {8, 100}, 80);
  CHECK_FALSE(is_there(large));
  auto small = ask(folder.path(), {8, 100}, 1);
  CHECK_FALSE(is_there(small));
  running.reset();
  REQUIRE(is_there(large));
  CHECK(is_there(small));
}

TEST_CASE("A process that is killed holds no turn, nor a place in the queue") {
  const TempFolder folder;
  const NodeBound bound{1, 100};
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto turn = take_node_turn(folder.path(), bound, 1);
    [[maybe_unused]] const auto written = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(turn ? 0 : 1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const pid_t waiter = ::fork();
  if (waiter == 0) ::_exit(take_node_turn(folder.path(), bound, 1) ? 0 : 1);
  std::this_thread::sleep_for(100ms);
  auto ours = ask(folder.path(), bound, 1);
  CHECK_FALSE(is_there(ours));
  ::kill(waiter, SIGKILL);
  ::waitpid(waiter, nullptr, 0);
  CHECK_FALSE(is_there(ours));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  REQUIRE(is_there(ours));
  ours.get().reset();
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    CHECK_FALSE(entry.path().string().ends_with(".turn"));
}

TEST_CASE("Never more than the bound, however many ask") {
  const TempFolder folder;
  std::atomic<int> held = 0, most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i)
    threads.emplace_back([&, i] {
      const auto turn = take_node_turn(folder.path(), {3, 100}, static_cast<ByteCount>(i % 60));
      REQUIRE(turn);
      const int now = ++held;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(2ms);
      --held;
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(most <= 3);
  CHECK(most > 1);
}

}  // namespace dsbuild
