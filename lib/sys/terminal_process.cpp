#include "sys/terminal_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "sys/child.h"
#include "sys/descriptor.h"
#include "sys/signal_catcher.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// How late a caught signal or the end of the child may be noticed; output wakes the loop at once.
constexpr std::chrono::milliseconds k_terminal_poll_interval{50};
constexpr std::chrono::milliseconds k_tick_interval{200};
// How long after the child's end its own children may hold the terminal open.
constexpr std::chrono::milliseconds k_terminal_drain_time{300};

struct PseudoTerminal {
  Descriptor master;  // what we read
  Descriptor slave;   // the child's stdout and stderr
};

// Raw: the bytes come as the child wrote them, without "\r" before each "\n".
bool make_raw_and_wide(int terminal) {
  termios modes{};
  if (::tcgetattr(terminal, &modes) != 0) return false;
  ::cfmakeraw(&modes);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 65535;
  return ::tcsetattr(terminal, TCSANOW, &modes) == 0 && ::ioctl(terminal, TIOCSWINSZ, &size) == 0;
}

std::optional<PseudoTerminal> open_pseudo_terminal() {
  PseudoTerminal terminal;
  terminal.master = Descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  const bool usable = terminal.master.is_open() && ::grantpt(terminal.master.number()) == 0 &&
                      ::unlockpt(terminal.master.number()) == 0 &&
                      ::ptsname_r(terminal.master.number(), name.data(), name.size()) == 0;
  if (!usable) return std::nullopt;
  terminal.slave = open_file(name.data(), O_RDWR | O_NOCTTY);
  if (!terminal.slave.is_open() || !make_raw_and_wide(terminal.slave.number())) return std::nullopt;
  return terminal;
}

enum class ReadState { read, nothing, closed };

ReadState read_output(int master, std::chrono::milliseconds patience,
                      const std::function<void(std::string_view)>& on_output) {
  pollfd wait{master, POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(patience.count())) <= 0) return ReadState::nothing;
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::read(master, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return ReadState::nothing;
  // EIO: the last process that had the terminal has closed it, and all is read.
  if (count <= 0) return ReadState::closed;
  on_output({buffer.data(), static_cast<size_t>(count)});
  return ReadState::read;
}

// Follows one child to its end.
class Follower {
 public:
  Follower(Child& child, int master, const std::function<void(std::string_view)>& on_output,
           const std::function<bool()>& on_tick)
      : child_(child), master_(master), on_output_(on_output), on_tick_(on_tick) {}

  // `signals` caught meanwhile go to the child; the first of them becomes the exit code.
  ProcessResult follow(SignalCatcher& signals) {
    while (!child_.poll_exit()) {
      pass_on(signals.take());
      tick();
      read(k_terminal_poll_interval);
    }
    drain();
    pass_on(signals.take());
    ProcessResult result;
    result.exit_code = first_signal_ != 0 ? 128 + first_signal_ : *child_.poll_exit();
    return result;
  }

 private:
  void pass_on(int signal) {
    if (signal == 0) return;
    child_.send(signal);
    if (first_signal_ == 0) first_signal_ = signal;
  }

  void tick() {
    if (Clock::now() < next_tick_) return;
    next_tick_ = Clock::now() + k_tick_interval;
    if (!on_tick_() && first_signal_ == 0) pass_on(SIGINT);
  }

  void read(std::chrono::milliseconds patience) {
    const ReadState state = read_output(master_, patience, on_output_);
    closed_ = state == ReadState::closed;
    // A child that closed its terminal but goes on would make poll return at once, for ever.
    if (closed_) ::poll(nullptr, 0, 1);
  }

  void drain() {
    const auto deadline = Clock::now() + k_terminal_drain_time;
    while (!closed_ && Clock::now() < deadline)
      read(k_terminal_poll_interval);
  }

  Child& child_;
  int master_;
  const std::function<void(std::string_view)>& on_output_;
  const std::function<bool()>& on_tick_;
  Clock::time_point next_tick_ = Clock::now();
  int first_signal_ = 0;
  bool closed_ = false;
};

}  // namespace

Result<ProcessResult> run_terminal_process(const Command& command, const std::vector<int>& inherited,
                                           const std::function<void(std::string_view)>& on_output,
                                           const std::function<bool()>& on_tick) {
  auto terminal = open_pseudo_terminal();
  if (!terminal) {
    const std::string limit = limit_behind(errno);
    return fail(Exit::unmet, "cannot_start", "/dev/ptmx",
                "no pseudo terminal can be opened: " + system_reason(errno),
                limit.empty() ? "mount devpts on /dev/pts, as containers do by default" : limit);
  }
  Command on_terminal = command;
  on_terminal.env["TERM"] = "xterm";
  const int slave = terminal->slave.number();
  SignalCatcher signals;
  DSBUILD_TRY(child, start_child(on_terminal, {slave, slave, inherited, ChildGroup::own, true}));
  terminal->slave.close();
  return Follower(child, terminal->master.number(), on_output, on_tick).follow(signals);
}

}  // namespace dsbuild
