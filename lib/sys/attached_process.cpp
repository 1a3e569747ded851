#include "sys/attached_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "sys/child.h"
#include "sys/descriptor.h"
#include "sys/system.h"

namespace dsbuild {
namespace {

constexpr std::array k_passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// While it lives, the signals that we wait for are blocked, so that none is lost between two looks.
class BlockedSignals {
 public:
  explicit BlockedSignals(SignalsMeanwhile meanwhile) : meanwhile_(meanwhile) {
    ::sigemptyset(&waited_for_);
    ::sigaddset(&waited_for_, SIGCHLD);
    for (const int signal : k_passed_on)
      ::sigaddset(&waited_for_, signal);
    ::pthread_sigmask(SIG_BLOCK, &waited_for_, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() {
    const timespec none{};
    siginfo_t info{};
    while (::sigtimedwait(&waited_for_, &info, &none) > 0)
      note(info);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    if (last_ != 0 && meanwhile_ == SignalsMeanwhile::are_ours_too) ::raise(last_);
  }

  const sigset_t& before() const { return before_; }
  siginfo_t wait() {
    siginfo_t info{};
    while (::sigwaitinfo(&waited_for_, &info) < 0) {
    }
    note(info);
    return info;
  }

 private:
  void note(const siginfo_t& info) {
    if (info.si_signo != SIGCHLD) last_ = info.si_signo;
  }

  SignalsMeanwhile meanwhile_;
  int last_ = 0;  // 0: none came to us
  sigset_t waited_for_{};
  sigset_t before_{};
};

// What posix_spawn is told of signals: the mask that we had, and what we ignore.
class SpawnAttributes {
 public:
  explicit SpawnAttributes(const sigset_t& mask) {
    sigset_t defaults;
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::sigaddset(&defaults, SIGXFSZ);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &mask);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

constexpr const char* k_give_a_program = "Give a program on PATH, or its path.";

tl::unexpected<Error> no_program(const std::string& name) {
  return fail(Exit::unmet, "cannot_start", name, "cannot be started: there is no such program",
              k_give_a_program);
}

Error not_started(const std::string& where, int error_number) {
  Error error = refused_start(where, error_number).value();
  if (error.fix.empty()) error.fix = k_give_a_program;
  return error;
}

Result<pid_t> start(const Command& command, const sigset_t& mask) {
  const std::string& name = command.argv.at(0);
  const auto program = find_program(*make_real_file_system(), name, command.env);
  if (!program) return no_program(name);
  const std::vector<std::string> variables = texts_of(command.env);
  const SpawnAttributes attributes(mask);
  pid_t id = -1;
  const int error = ::posix_spawn(&id, program->c_str(), nullptr, attributes.get(),
                                  pointers_to(command.argv).data(), pointers_to(variables).data());
  if (error != 0) return tl::unexpected<Error>(not_started(name, error));
  return id;
}

std::optional<int> poll_exit(pid_t id) {
  int status = 0;
  if (::waitpid(id, &status, WNOHANG) != id) return std::nullopt;
  return exit_code_of(status);
}

// The kernel sends what a terminal's key stands for to the whole group.
bool is_for_us_alone(const siginfo_t& signal) {
  return signal.si_signo != SIGCHLD && signal.si_code != SI_KERNEL;
}

}  // namespace

Result<int> run_attached(const Command& command, SignalsMeanwhile meanwhile) {
  BlockedSignals signals(meanwhile);
  DSBUILD_TRY(id, start(command, signals.before()));
  while (true) {
    if (const auto code = poll_exit(id)) return *code;
    const siginfo_t signal = signals.wait();
    if (is_for_us_alone(signal)) ::kill(id, signal.si_signo);
  }
}

Error become(const Command& command) {
  const std::string& name = command.argv.at(0);
  const auto program = find_program(*make_real_file_system(), name, command.env);
  if (!program) return no_program(name).value();
  if (!command.cwd.empty() && ::chdir(command.cwd.c_str()) != 0)
    return not_started(command.cwd.string(), errno);
  const std::vector<std::string> variables = texts_of(command.env);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::execve(program->c_str(), pointers_to(command.argv).data(), pointers_to(variables).data());
  return not_started(name, errno);
}

}  // namespace dsbuild
