#include "sys/lock.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "sys/process.h"
#include "temporary_folder.h"

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

using Holders = std::vector<std::string>;

std::unique_ptr<FolderLock> take(const Path& file, const std::string& command = "dsbuild build") {
  return take_lock(file, command, std::nullopt, {}).value();
}

// Tries for no longer than it takes to look.
bool is_free(const Path& file) {
  return take_lock(file, "test", 0s, {}).has_value();
}

std::string read(const Path& path) {
  return make_real_file_system()->read_file(path).value();
}

void write(const Path& path, const std::string& text) {
  REQUIRE(make_real_file_system()->write_file(path, text));
}

void wait_until_there(const Path& path) {
  while (make_real_file_system()->kind(path) == FileKind::absent)
    std::this_thread::sleep_for(5ms);
}

}  // namespace

TEST_CASE("A lock is held until it is let go, and its file stays") {
  const TemporaryFolder folder;
  const Path file = folder / "lock";
  {
    const auto lock = take(file);
    CHECK(lock->descriptor() > 2);
    CHECK_FALSE(is_free(file));
  }
  CHECK(is_free(file));
  CHECK(make_real_file_system()->kind(file) == FileKind::file);
}

TEST_CASE("The lock file tells who holds it, and nothing of who held it before") {
  const TemporaryFolder folder;
  take(folder / "lock", "dsbuild build --ops all --arch 8.0");
  const auto lock = take(folder / "lock", "dsbuild\nplan");
  CHECK(read(folder / "lock") == std::to_string(::getpid()) + " dsbuild\nplan\n");
  struct stat status{};
  REQUIRE(::stat((folder / "lock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
}

TEST_CASE("Who waits hears once who holds the lock, and gets it when that ends") {
  const TemporaryFolder folder;
  auto lock = take(folder / "lock", "dsbuild build --ops all");
  Holders holders;
  std::thread holder([&] {
    std::this_thread::sleep_for(300ms);
    lock.reset();
  });
  const auto second = take_lock(folder / "lock", "dsbuild", std::nullopt,
                                [&](const std::string& text) { holders.push_back(text); });
  holder.join();
  CHECK(second.has_value());
  CHECK(holders == Holders{std::to_string(::getpid()) + " dsbuild build --ops all"});
}

TEST_CASE("A free lock is taken without a word") {
  const TemporaryFolder folder;
  Holders holders;
  CHECK(take_lock(folder / "lock", "dsbuild", std::nullopt,
                  [&](const std::string& text) { holders.push_back(text); }));
  CHECK(holders.empty());
}

TEST_CASE("Waiting ends with exit 75 when its time is over") {
  const TemporaryFolder folder;
  const auto lock = take(folder / "lock", "dsbuild build");
  const auto start = std::chrono::steady_clock::now();
  const auto second = take_lock(folder / "lock", "dsbuild", 1s, {});
  const auto waited = std::chrono::steady_clock::now() - start;
  REQUIRE_FALSE(second);
  CHECK(second.error().exit == Exit::locked);
  CHECK(second.error().code == "locked");
  CHECK(second.error().where == (folder / "lock").string());
  CHECK(second.error().what == "still locked after 1 s by " + std::to_string(::getpid()) + " dsbuild build");
  CHECK(waited >= 1s);
  CHECK(waited < 3s);
}

TEST_CASE("Whatever an old lock file holds, the lock is free") {
  const TemporaryFolder folder;
  write(folder / "lock", std::string(10000, '\xff') + "\0\x1b[2J");
  CHECK(is_free(folder / "lock"));
}

TEST_CASE("What a lock file says cannot reach the terminal as commands") {
  const TemporaryFolder folder;
  const auto lock = take(folder / "lock", "dsbuild \x1b[2Jbuild");
  Holders holders;
  CHECK_FALSE(
      take_lock(folder / "lock", "dsbuild", 0s, [&](const std::string& text) { holders.push_back(text); }));
  CHECK(holders == Holders{std::to_string(::getpid()) + " dsbuild build"});
}

TEST_CASE("Where the lock file should be, a link or a folder is an error") {
  const TemporaryFolder folder;
  write(folder / "target", "kept");
  REQUIRE(make_real_file_system()->make_symlink("target", folder / "link"));
  const auto linked = take_lock(folder / "link", "dsbuild", 0s, {});
  REQUIRE_FALSE(linked);
  CHECK(linked.error().exit == Exit::failed);
  CHECK(linked.error().code == "io");
  CHECK_FALSE(take_lock(folder.path(), "dsbuild", 0s, {}));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(take_lock(folder / "pipe", "dsbuild", 0s, {}));
  CHECK(read(folder / "target") == "kept");
}

TEST_CASE("Who waited gets the lock of the folder that is there now") {
  const TemporaryFolder folder;
  auto old_lock = take(folder / "lock");
  std::thread replacer([&] {
    std::this_thread::sleep_for(200ms);
    REQUIRE(make_real_file_system()->remove_all(folder / "lock"));
    old_lock.reset();
  });
  const auto lock = take_lock(folder / "lock", "dsbuild", std::nullopt, {});
  replacer.join();
  REQUIRE(lock);
  CHECK_FALSE(is_free(folder / "lock"));
}

TEST_CASE("A lock makes its folder, or is none where there is no folder") {
  const TemporaryFolder folder;
  CHECK(take_lock_if_there(folder / "a/lock", "dsbuild", 0s, {}).value() == nullptr);
  CHECK(make_real_file_system()->kind(folder / "a") == FileKind::absent);
  CHECK(take_lock(folder / "a/b/lock", "dsbuild", 0s, {}).value() != nullptr);
  CHECK(take_lock_if_there(folder / "a/b/lock", "dsbuild", 0s, {}).value() != nullptr);
}

TEST_CASE(
    "Who waits for the lock of a folder that is removed makes it again, or is told that there is none") {
  const TemporaryFolder folder;
  const Path file = folder / "build/lock";
  for (const bool is_made : {true, false}) {
    auto old_lock = take(file);
    write(folder / "build/marker", "");
    REQUIRE(make_real_file_system()->make_directories(folder / "build/obj/deep"));
    std::thread remover([&] {
      std::this_thread::sleep_for(200ms);
      REQUIRE(remove_locked_folder(file, "marker"));
      std::this_thread::sleep_for(200ms);
      old_lock.reset();
    });
    const auto lock = (is_made ? take_lock : take_lock_if_there)(file, "dsbuild", std::nullopt, {});
    CHECK((make_real_file_system()->kind(folder / "build") == FileKind::directory) == is_made);
    remover.join();
    REQUIRE(lock);
    CHECK((*lock != nullptr) == is_made);
  }
}

TEST_CASE("A lock that a child inherited outlives the killed dsbuild, until the child's end") {
  const TemporaryFolder folder;
  const Path file = folder / "lock";
  const pid_t parent = ::fork();
  if (parent == 0) {
    const auto lock = take(file);
    Command command;
    // Like a compiler, it does not end with its parents.
    command.argv = {"sh", "-c", "trap '' TERM HUP; touch started; while ! test -e stop; do sleep 0.02; done"};
    command.env = {{"PATH", "/usr/bin:/bin"}};
    command.cwd = folder.path();
    [[maybe_unused]] const auto ran = make_real_process_runner()->run_on_terminal(
        command, {lock->descriptor()}, [](std::string_view) {}, [] { return true; });
    ::_exit(0);
  }
  wait_until_there(folder / "started");
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CHECK_FALSE(is_free(file));
  write(folder / "stop", "");
  CHECK(take_lock(file, "test", 5s, {}));
}

TEST_CASE("A child that did not inherit the lock does not keep it") {
  const TemporaryFolder folder;
  auto lock = take(folder / "lock");
  Command command;
  command.argv = {"sh", "-c", "sleep 3 >/dev/null 2>&1 &"};
  command.env = {{"PATH", "/usr/bin:/bin"}};
  REQUIRE(make_real_process_runner()->run(command).value().ok());
  lock.reset();
  CHECK(is_free(folder / "lock"));
}

TEST_CASE("The holder tells more behind its own line, and who waits reads the newest and may stop") {
  const TemporaryFolder folder;
  const auto lock = take(folder / "lock", "dsbuild load");
  lock->tell("phase a long one\n");
  lock->tell("phase two\n");
  std::vector<std::string> told;
  const auto waited = take_lock_while(folder / "lock", "dsbuild", [&](const std::string& text) {
    told.push_back(text);
    return told.size() < 3;
  });
  REQUIRE(waited);
  CHECK(*waited == nullptr);
  REQUIRE(told.size() == 3);
  CHECK(trim(told.back()) == std::to_string(::getpid()) + " dsbuild load\nphase two");
}

TEST_CASE("Who waits for as long as it likes gets the lock when it is free") {
  const TemporaryFolder folder;
  auto lock = take(folder / "lock");
  int asked = 0;
  const auto next = take_lock_while(folder / "lock", "dsbuild", [&](const std::string&) {
    if (++asked == 2) lock.reset();
    return true;
  });
  REQUIRE(next);
  CHECK(*next != nullptr);
  CHECK_FALSE(is_free(folder / "lock"));
}
