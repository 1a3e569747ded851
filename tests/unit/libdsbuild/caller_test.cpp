// What a load leaves alone in the process that calls it, and what the program gets of it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <chrono>
#include <optional>
#include <thread>

#include "close_others.h"
#include "fake_dsbuild.h"

using namespace dsbuild;

namespace {

// Sets the handling of a signal for as long as it lives.
class Handling {
 public:
  Handling(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction action{};
    action.sa_handler = handler;
    ::sigaction(signal, &action, &before_);
  }
  Handling(const Handling&) = delete;
  ~Handling() { ::sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_{};
};

void do_nothing(int) {}

// A file that is open without close-on-exec.
struct OpenFile {
  explicit OpenFile(const std::string& name) : number(::open(name.c_str(), O_RDWR | O_CREAT, 0600)) {}
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() { ::close(number); }
  int number;
};

// Signals in a line of /proc/PID/status, "SigIgn:\t0000000000001000".
bool names(const std::string& status, const std::string& line, int signal) {
  const size_t begin = status.find(line + ":\t") + line.size() + 2;
  return (std::stoull(status.substr(begin, 16), nullptr, 16) >> (signal - 1)) & 1;
}

constexpr const char* k_list_descriptors = "for one in /proc/$$/fd/*; do readlink $one; done >descriptors";

// What a program that is started with these actions has open.
std::string descriptors_of_child(const std::function<void(posix_spawn_file_actions_t&)>& prepare) {
  const FakeDsbuild program(k_list_descriptors);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  prepare(actions);
  std::string word = program.options.program;
  std::array<char*, 2> argv = {word.data(), nullptr};
  pid_t child = -1;
  REQUIRE(::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0);
  ::waitpid(child, nullptr, 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return program.read("descriptors");
}

}  // namespace

TEST_CASE("A load leaves environment, folder, descriptors, signals and threads as they are") {
  const Handling handled(SIGINT, do_nothing), ignored(SIGPIPE, SIG_IGN);
  const FakeDsbuild good("export A=b; cat answer"), bad("exit 3");
  const ProcessState before = process_state();
  CHECK(load("gamma", good.options).exit == 0);
  CHECK(load("gamma", bad.options).exit != 0);
  FakeDsbuild heard("echo line >&2; cat answer");
  heard.options.on_message = [](const char*, void*) {};
  CHECK(load("gamma", heard.options).exit == 0);
  CHECK(process_state() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
}

TEST_CASE("The state that is compared sees each change") {
  const TempFolder folder;
  const auto here = std::filesystem::current_path();
  const ProcessState before = process_state();
  const auto sees = [&](const std::function<void()>& change, const std::function<void()>& back) {
    change();
    const bool is_seen = process_state() != before;
    back();
    return is_seen && process_state() == before;
  };
  std::optional<OpenFile> file;
  std::optional<Handling> handled;
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  CHECK(sees([&] { file.emplace(folder.path() / "file"); }, [&] { file.reset(); }));
  CHECK(sees([&] { handled.emplace(SIGUSR1, do_nothing); }, [&] { handled.reset(); }));
  CHECK(sees([&] { ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr); },
             [&] { ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr); }));
  CHECK(sees([] { ::setenv("DSBUILD_A_VARIABLE", "1", 1); }, [] { ::unsetenv("DSBUILD_A_VARIABLE"); }));
  CHECK(sees([&] { std::filesystem::current_path(folder.path()); },
             [&] { std::filesystem::current_path(here); }));
  std::thread thread([&] { CHECK(process_state().threads == before.threads + 1); });
  thread.join();
}

TEST_CASE("Signals are as after a login in the program, but that what nohup ignores stays ignored") {
  const FakeDsbuild program(
      "while read -r line; do echo \"$line\"; done </proc/self/status >status; cat answer");
  const Handling pipe(SIGPIPE, SIG_IGN), children(SIGCHLD, SIG_IGN), hangup(SIGHUP, SIG_IGN);
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  CHECK(load("gamma", program.options).exit == 0);
  const std::string status = program.read("status"), ours = bytes_of("/proc/thread-self/status");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(names(ours, "SigIgn", SIGPIPE));
  CHECK(names(ours, "SigBlk", SIGTERM));
  CHECK_FALSE(names(status, "SigIgn", SIGPIPE));
  CHECK_FALSE(names(status, "SigIgn", SIGCHLD));
  CHECK(names(status, "SigIgn", SIGHUP));
  CHECK_FALSE(names(status, "SigBlk", SIGTERM));
}

TEST_CASE("The program is of the caller's process group, so Ctrl-C reaches it") {
  const FakeDsbuild program("ps -o pgid= -p $$ >group; cat answer");
  CHECK(load("gamma", program.options).exit == 0);
  CHECK(std::stoi(program.read("group")) == ::getpgrp());
}

TEST_CASE("Where SIGCHLD is ignored, what the program says decides") {
  const Handling children(SIGCHLD, SIG_IGN);
  CHECK(load("gamma", FakeDsbuild("cat answer").options).exit == 0);
  const Call call = load(
      "gamma",
      FakeDsbuild(
          R"(echo '{"schema": 1, "error": {"code": "no_gpu", "where": "", "what": "a", "fix": ""}}'; exit 3)")
          .options);
  CHECK(call.exit == 1);
  CHECK(call.code == "no_gpu");
  const Call nothing = load("gamma", FakeDsbuild("exit 3").options);
  CHECK(nothing.exit == 70);
  CHECK(nothing.what == "ended and gave no answer that this libdsbuild reads");
}

TEST_CASE("A load goes on through signals that the caller handles") {
  // Signals come while it reads, and while it waits for the end of a program that has closed its streams.
  FakeDsbuild program("sleep 0.2; echo line >&2; sleep 0.1; cat answer; exec >&- 2>&-; sleep 0.2");
  program.options.on_message = [](const char*, void*) {};
  const Handling alarms(SIGALRM, do_nothing);
  const itimerval often{{0, 1000}, {0, 1000}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const Call call = load("gamma", program.options);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  CHECK(call.exit == 0);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
}

TEST_CASE("The program gets no descriptor of the caller's") {
  const TempFolder folder;
  const OpenFile file(folder.path() / "callers_file");
  const FakeDsbuild program(std::string(k_list_descriptors) + "; cat answer");
  CHECK(load("gamma", program.options).exit == 0);
  CHECK(program.read("descriptors").find("/dev/null") != std::string::npos);
  CHECK(program.read("descriptors").find("callers_file") == std::string::npos);
}

TEST_CASE("Descriptors are closed with this glibc's function, and by name where there is none") {
  const TempFolder folder;
  const OpenFile file(folder.path() / "callers_file");
  const auto has_it = [](const std::string& list) { return list.find("callers_file") != std::string::npos; };
  CHECK(has_it(descriptors_of_child([](auto&) {})));
  CHECK_FALSE(has_it(descriptors_of_child([](auto& actions) { close_others(actions, nullptr); })));
  CHECK_FALSE(has_it(descriptors_of_child([](auto& actions) { close_others(actions, find_closefrom()); })));
}

TEST_CASE("A caller whose standard descriptors are closed loads too") {
  FakeDsbuild program("echo line >&2; cat answer");
  program.options.on_message = [](const char* line, void* heard) {
    *static_cast<bool*>(heard) = std::string(line) == "line";
  };
  bool heard = false;
  program.options.context = &heard;
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {0, 1, 2})
      ::close(number);
    const int exit = dsbuild_load_op("gamma", &program.options, nullptr, nullptr);
    ::_exit(heard ? exit : 99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("A closed stderr is closed in the program too, and none of the library's own") {
  const FakeDsbuild program("readlink /proc/$$/fd/2 >stderr; cat answer");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::_exit(dsbuild_load_op("gamma", &program.options, nullptr, nullptr));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(program.read("stderr").empty());
}

TEST_CASE("What the program says comes line by line, or goes to stderr") {
  FakeDsbuild program("printf 'one\\ntw' >&2; sleep 0.1; printf 'o\\n\\nlast' >&2; cat answer");
  const TempFolder folder;
  {
    const OpenFile file(folder.path() / "stderr");
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(file.number, STDERR_FILENO);
    load("gamma", program.options);
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
  }
  CHECK(bytes_of(folder.path() / "stderr") == "one\ntwo\n\nlast");

  std::vector<std::string> lines;
  program.options.on_message = [](const char* line, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(line);
  };
  program.options.context = &lines;
  CHECK(load("other", program.options).exit == 0);
  CHECK(lines == std::vector<std::string>{"one", "two", "", "last"});
}

TEST_CASE("A copy of the pipe in another process does not hold up a load") {
  // The shell in the background has the program's stdout and stderr, as a child would that a thread forked.
  const std::string script = "sleep 20 & echo $! >sleeper; cat answer";
  const auto load_it = [&] {
    FakeDsbuild program(script);
    program.options.on_message = [](const char*, void*) {};
    const auto begin = std::chrono::steady_clock::now();
    CHECK(load("gamma", program.options).exit == 0);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    ::kill(std::stoi(program.read("sleeper")), SIGKILL);
  };
  load_it();
  const Handling children(SIGCHLD, SIG_IGN);
  load_it();
}

TEST_CASE("An answer of many pipes' size arrives whole") {
  FakeDsbuild program(
      "yes 0123456789 | head -c 1000000 >&2; sed 's/gamma_more/'$(head -c 90000 /dev/zero | tr '\\0' x)'/' "
      "answer");
  size_t heard = 0;
  program.options.on_message = [](const char* line, void* count) {
    *static_cast<size_t*>(count) += std::string(line).size() + 1;
  };
  program.options.context = &heard;
  const Call call = load("gamma", program.options);
  REQUIRE(call.exit == 0);
  CHECK(std::string(call.op->exports[1]).size() == 90000);
  CHECK(heard == 1000001);  // the last line has no newline of its own
}
