// Starts and reaps one child process. Only for lib/sys.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

// Pointers for execve(2), ending with nullptr; valid as long as the texts.
std::vector<char*> pointers_to(const std::vector<std::string>& texts);
std::vector<std::string> texts_of(const Environment& environment);  // "NAME=value" each
// The exit code for a status of waitpid(2): 128 + n if killed by signal n.
int exit_code_of(int status);

struct ChildStart {
  int out = -1;  // becomes stdout; stdin has the command's input
  int err = -1;  // becomes stderr
  // Open in the child under the same numbers; no other descriptor of ours is.
  std::vector<int> inherited;
  ChildGroup group = ChildGroup::own;
  bool new_session = false;  // and so a group of its own
};

// A started child. The destructor kills it if it has not been reaped.
class Child {
 public:
  Child(pid_t id, ChildGroup group) : id_(id), group_(group) {}
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // To the child's whole process group where it has one of its own.
  void send(int signal) const;
  // The exit code (128 + n when killed by signal n) once it has ended.
  std::optional<int> poll_exit();
  // Of an ended child and the processes that it waited for: that of the largest.
  unsigned long long peak_memory_bytes() const { return peak_memory_bytes_; }
  // Of the same processes, all together.
  unsigned long long cpu_milliseconds() const { return cpu_milliseconds_; }

 private:
  pid_t id_;
  ChildGroup group_;
  std::optional<int> exit_code_;
  unsigned long long peak_memory_bytes_ = 0, cpu_milliseconds_ = 0;
};

// Error: exit 3, code `cannot_start`.
Result<Child> start_child(const Command& command, const ChildStart& start);
// The same error of what the system refused: a pipe, a process, the program. It names the limit
// that may cause it.
tl::unexpected<Error> refused_start(std::string where, int error_number);

}  // namespace dsbuild
