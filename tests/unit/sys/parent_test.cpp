// Processes whose parent dies, and where they work.
#include "sys/parent.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "temporary_folder.h"

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

// A process that waits in a folder, or sleeps below one that is killed.
pid_t start(const std::function<void()>& work) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::signal(SIGTERM, SIG_DFL);  // not the handler of the test
    work();
    ::_exit(0);
  }
  return id;
}

bool becomes(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (!condition() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(2ms);
  return condition();
}

}  // namespace

TEST_CASE("A process whose current folder is in one works in it, for as long as it lives") {
  const TemporaryFolder folder;
  const Path inner = folder / "build", next = folder / "build2";
  std::filesystem::create_directory(inner);
  std::filesystem::create_directory(next);
  CHECK_FALSE(is_worked_in(inner));
  CHECK_FALSE(is_worked_in(folder / "absent"));
  const pid_t id = start([&] {
    if (::chdir(inner.c_str()) == 0) ::pause();
  });
  CHECK(becomes([&] { return is_worked_in(inner); }));
  CHECK(is_worked_in(folder.path()));
  CHECK_FALSE(is_worked_in(next));
  ::kill(id, SIGKILL);
  ::waitpid(id, nullptr, 0);
  CHECK_FALSE(is_worked_in(inner));
}

TEST_CASE("A process that is to end with its parent ends with it") {
  std::array<int, 2> alive{};
  REQUIRE(::pipe(alive.data()) == 0);
  const pid_t parent = start([&] {
    ::close(alive[0]);
    start([&] {
      end_with_parent();
      (void)!::write(alive[1], "1", 1);
      while (true)
        ::pause();
    });
    ::close(alive[1]);
    while (true)
      ::pause();
  });
  ::close(alive[1]);
  char byte = 0;
  REQUIRE(::read(alive[0], &byte, 1) == 1);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CHECK(::read(alive[0], &byte, 1) == 0);  // its end of the pipe is closed
  ::close(alive[0]);
}
