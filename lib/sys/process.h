// Runs programs. Commands are argument vectors; no shell is involved.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

using Environment = std::map<std::string, std::string>;

struct Command {
  std::vector<std::string> argv;      // argv[0]: a path, or a name looked up in env's PATH
  Environment env;                    // the whole environment of the child
  Path cwd;                           // empty: the current folder
  std::chrono::seconds timeout{120};  // of run(); a command on a terminal takes as long as it takes
  bool is_alone = false;  // of run(): the program may start no other one and ask none over a socket
  // Its output is its only purpose, so it may be started again at any time.
  bool is_question = false;
  std::string input{};     // of run(): what it reads from stdin; "": nothing
  std::stop_token stop{};  // of run(): once it is requested, the command is killed as if its time were up
};

// The limit for each output stream of a child; a text of this size may have been longer.
inline constexpr size_t k_kept_output = 64 << 20;

struct ProcessResult {
  int exit_code = 0;  // 128 + n when killed by signal n
  bool timed_out = false;
  std::string out;  // stdout, at most k_kept_output bytes of it
  std::string err;  // stderr, likewise
  // The most memory that one of its processes held, of those that were waited for: a maximum, not a sum.
  // That is enough for compilers, whose driver waits while one tool at a time works.
  unsigned long long peak_memory_bytes = 0;
  unsigned long long cpu_milliseconds = 0;  // of all its processes that were waited for
  bool ran_elsewhere = false;               // on another machine (exec/build_runner.h)
  bool ok() const { return exit_code == 0 && !timed_out; }
};

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  // Error (exit 3, code `cannot_start`) only when the program cannot be started at all: a script that is to
  // be alone, or any program where the kernel has no seccomp filters.
  virtual Result<ProcessResult> run(const Command& command) = 0;
  // Runs with a pseudo terminal as stdout and stderr (so that a program which draws for a terminal
  // says when each piece of work starts), raw, 65535 columns wide, TERM=xterm. `on_output` gets
  // bytes as they come, `on_tick` is called at least every 250 ms. SIGINT, SIGTERM and SIGHUP are
  // passed on to the child's process group and then returned as exit_code 128 + n; where `on_tick` says
  // that it is not to go on, the child gets SIGINT, as of a user. File
  // descriptors in `inherited` stay open in the child. The child gets SIGTERM if dsbuild dies.
  virtual Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>& inherited,
                                                const std::function<void(std::string_view)>& on_output,
                                                const std::function<bool()>& on_tick) = 0;
};

// The process group of what run() starts. Its own: a command whose time is up ends with all that it started.
// Ours: a signal for our group, as Ninja sends it to that of an edge, reaches it and all that it started.
enum class ChildGroup { own, ours };

std::unique_ptr<ProcessRunner> make_real_process_runner(ChildGroup group = ChildGroup::own);

}  // namespace dsbuild
