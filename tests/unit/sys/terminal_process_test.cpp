#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <limits>
#include <thread>

#include "sys/process.h"
#include "sys/system.h"
#include "temporary_folder.h"

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

struct TerminalRun {
  ProcessResult result;
  std::string out;
  int ticks = 0;
};

Command terminal_script(const std::string& text) {
  Command command;
  command.argv = {"sh", "-c", text};
  command.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  return command;
}

TerminalRun run_on_terminal(const Command& command, const std::vector<int>& inherited = {},
                            const std::function<void(std::string_view)>& watch = {},
                            int most_ticks = std::numeric_limits<int>::max()) {
  TerminalRun run;
  const auto on_output = [&](std::string_view bytes) {
    run.out += bytes;
    if (watch) watch(run.out);
  };
  run.result = make_real_process_runner()
                   ->run_on_terminal(command, inherited, on_output, [&] { return ++run.ticks < most_ticks; })
                   .value();
  return run;
}

void write_file(const Path& path, const std::string& text) {
  REQUIRE(make_real_file_system()->write_file(path, text));
}

bool is_alive(pid_t id) {
  return ::kill(id, 0) == 0;
}

}  // namespace

TEST_CASE("The child sees a wide raw terminal as stdout and stderr, and no input") {
  const TerminalRun ran = run_on_terminal(
      terminal_script("test -t 1 && test -t 2 && echo terminal; stty size <&1; echo $TERM; cat"));
  CHECK(ran.out == "terminal\n24 65535\nxterm\n");
  CHECK(ran.result.exit_code == 0);
}

TEST_CASE("Nothing that the child wrote before its end is lost") {
  for (int round = 0; round < 20; ++round) {
    const TerminalRun ran =
        run_on_terminal(terminal_script("head -c 200000 /dev/zero | tr '\\0' x; echo end; exit 4"));
    REQUIRE(ran.out.size() == 200004);
    REQUIRE(ran.out.substr(200000) == "end\n");
    REQUIRE(ran.result.exit_code == 4);
  }
}

TEST_CASE("Ticks come at least every 250 ms, also while nothing is written") {
  CHECK(run_on_terminal(terminal_script("sleep 1")).ticks >= 4);
  CHECK(run_on_terminal(terminal_script("for i in 1 2 3 4 5 6 7 8 9 10; do echo x; sleep 0.1; done")).ticks >=
        4);
}

TEST_CASE("A command on a terminal has no time limit") {
  Command command = terminal_script("sleep 0.3; echo end");
  command.timeout = 0s;
  CHECK(run_on_terminal(command).out == "end\n");
}

TEST_CASE("A signal to dsbuild goes to the child, whose end is waited for") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    bool sent = false;
    const TerminalRun ran = run_on_terminal(
        terminal_script("trap 'echo caught; exit 9' INT TERM HUP; echo ready; while :; do sleep 0.05; done"),
        {}, [&](std::string_view out) {
          if (!sent && out == "ready\n") sent = ::kill(::getpid(), signal) == 0;
        });
    // Between the two the shell may tell that its sleep got the signal too.
    CHECK_THAT(ran.out, Catch::EndsWith("caught\n"));
    CHECK(ran.result.exit_code == 128 + signal);
  }
}

TEST_CASE("The handlers of signals are as before when the command has ended") {
  struct sigaction before{};
  struct sigaction after{};
  ::sigaction(SIGTERM, nullptr, &before);
  run_on_terminal(terminal_script("true"));
  ::sigaction(SIGTERM, nullptr, &after);
  CHECK(before.sa_handler == after.sa_handler);
}

TEST_CASE("A child that is not to go on is interrupted once, and its end waited for") {
  const TerminalRun ran = run_on_terminal(
      terminal_script("trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"), {}, {}, 2);
  CHECK_THAT(ran.out, Catch::EndsWith("caught\n"));
  CHECK(ran.out.find("caught") == ran.out.rfind("caught"));
  CHECK(ran.result.exit_code == 130);
}

TEST_CASE("A signal goes to each of the children that are followed at once") {
  struct sigaction before{};
  struct sigaction after{};
  ::sigaction(SIGTERM, nullptr, &before);
  const std::string text = "trap 'sleep 0.2; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
  std::atomic<int> ready = 0;
  const auto follow = [&](int& exit_code) {
    bool counted = false;
    exit_code = run_on_terminal(terminal_script(text), {}, [&](std::string_view out) {
                  if (!counted && out == "ready\n") counted = ++ready > 0;
                }).result.exit_code;
  };
  int first_code = 0, second_code = 0;
  std::thread first(follow, std::ref(first_code)), second(follow, std::ref(second_code));
  while (ready < 2)
    std::this_thread::sleep_for(5ms);
  ::kill(::getpid(), SIGTERM);
  first.join();
  second.join();
  CHECK(first_code == 128 + SIGTERM);
  CHECK(second_code == 128 + SIGTERM);
  ::sigaction(SIGTERM, nullptr, &after);
  CHECK(before.sa_handler == after.sa_handler);
}

TEST_CASE("An inherited descriptor is open in the child, another of ours is not") {
  const int given = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int kept = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(given > 2);
  REQUIRE(kept > 2);
  const std::string text = "for n in " + std::to_string(given) + " " + std::to_string(kept) +
                           "; do test -e /proc/self/fd/$n && echo $n; done; true";
  CHECK(run_on_terminal(terminal_script(text), {given}).out == std::to_string(given) + "\n");
  ::close(given);
  ::close(kept);
}

TEST_CASE("The child ends when dsbuild is killed") {
  const TemporaryFolder folder;
  const Path id_file = folder / "id";
  const pid_t parent = ::fork();
  if (parent == 0) {
    run_on_terminal(terminal_script("echo $$ > " + id_file.string() + ".new && mv " + id_file.string() +
                                    ".new " + id_file.string() + "; exec sleep 30"));
    ::_exit(0);
  }
  while (make_real_file_system()->kind(id_file) != FileKind::file)
    std::this_thread::sleep_for(10ms);
  const pid_t child = std::stoi(make_real_file_system()->read_file(id_file).value());
  REQUIRE(is_alive(child));
  ::kill(parent, SIGKILL);
  // A dead child that nobody has reaped is gone for us too: its state is Z.
  const auto has_ended = [&] {
    const auto status = make_real_file_system()->read_file("/proc/" + std::to_string(child) + "/stat");
    return !status || status->find(") Z ") != std::string::npos;
  };
  for (int i = 0; i < 300 && !has_ended(); ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(has_ended());
}

TEST_CASE("Ninja on this terminal prints a status when an edge starts and when it ends") {
  const auto ninja = find_program(*make_real_file_system(), "ninja", read_environment()["PATH"]);
  if (!ninja) {
    WARN("ninja is not on PATH");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "build.ninja",
             "rule run\n  command = sleep 0.2 && touch $out\n  description = make $out\n"
             "build one: run\nbuild two: run one\n");
  Command command = terminal_script("");
  command.argv = {ninja->string(), "-j2"};
  command.cwd = folder.path();
  command.env["NINJA_STATUS"] = "[%s %f %t] ";
  const TerminalRun ran = run_on_terminal(command);
  CHECK(ran.result.exit_code == 0);
  // started, finished, total: each edge shows twice.
  for (const std::string status :
       {"[1 0 2] make one", "[1 1 2] make one", "[2 1 2] make two", "[2 2 2] make two"}) {
    CHECK_THAT(ran.out, Catch::Contains(status));
  }
}
