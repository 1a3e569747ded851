#include "sys/process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "sys/child.h"
#include "sys/descriptor.h"
#include "sys/terminal_process.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// Output wakes the loop at once; this is how late the end of a child may be noticed whose own
// children keep its output open.
constexpr std::chrono::milliseconds k_poll_interval{20};
constexpr std::chrono::milliseconds k_exit_interval{1};
constexpr std::chrono::seconds k_drain_time{1};

// One stream of a child: the end that is read, and what came through it.
struct Stream {
  Descriptor end;
  std::string text;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Result<Pipe> make_pipe(const std::string& program) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  return refused_start(program, errno);
}

void read_some(Stream& stream) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::read(stream.end.number(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    stream.end.close();
    return;
  }
  const size_t kept = std::min(static_cast<size_t>(count), k_kept_output - stream.text.size());
  stream.text.append(buffer.data(), kept);
}

// Reads what has come, waiting for it at most `patience`. False when nothing came.
bool read_ready(std::array<Stream, 2>& streams, std::chrono::milliseconds patience) {
  // poll skips a negative descriptor, which is what a closed one has.
  std::array<pollfd, 2> waits{{{streams[0].end.number(), POLLIN, 0}, {streams[1].end.number(), POLLIN, 0}}};
  if (::poll(waits.data(), waits.size(), static_cast<int>(patience.count())) <= 0) return false;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (waits[i].revents != 0) read_some(streams[i]);
  }
  return true;
}

// Until the child has ended and all that it wrote is read, or until it is to be killed.
ProcessResult follow(Child& child, std::array<Stream, 2>& streams, Clock::time_point deadline,
                     const std::stop_token& stop) {
  ProcessResult result;
  bool is_killed = false;
  while (!child.poll_exit()) {
    result.timed_out = result.timed_out || (Clock::now() >= deadline && !is_killed);
    if ((result.timed_out || stop.stop_requested()) && !is_killed) {
      is_killed = true;
      child.send(SIGKILL);
    }
    if (streams[0].end.is_open() || streams[1].end.is_open()) {
      read_ready(streams, k_poll_interval);
    } else {
      std::this_thread::sleep_for(k_exit_interval);
    }
  }
  result.exit_code = *child.poll_exit();
  result.peak_memory_bytes = child.peak_memory_bytes();
  result.cpu_milliseconds = child.cpu_milliseconds();
  // What the child wrote is in the pipes by now; a process that it left behind is not waited for.
  const auto drained = Clock::now() + k_drain_time;
  while (Clock::now() < drained && read_ready(streams, std::chrono::milliseconds(0))) {
  }
  result.out = std::move(streams[0].text);
  result.err = std::move(streams[1].text);
  return result;
}

class RealProcessRunner : public ProcessRunner {
 public:
  explicit RealProcessRunner(ChildGroup group) : group_(group) {}

  Result<ProcessResult> run(const Command& command) override {
    const std::string program = command.argv.empty() ? "" : command.argv[0];
    DSBUILD_TRY(out, make_pipe(program));
    DSBUILD_TRY(err, make_pipe(program));
    const auto deadline = Clock::now() + command.timeout;
    DSBUILD_TRY(child, start_child(command, {out.write_end.number(), err.write_end.number(), {}, group_}));
    out.write_end.close();
    err.write_end.close();
    std::array<Stream, 2> streams{{{std::move(out.read_end), ""}, {std::move(err.read_end), ""}}};
    return follow(child, streams, deadline, command.stop);
  }

  Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>& inherited,
                                        const std::function<void(std::string_view)>& on_output,
                                        const std::function<bool()>& on_tick) override {
    return run_terminal_process(command, inherited, on_output, on_tick);
  }

 private:
  const ChildGroup group_;
};

}  // namespace

std::unique_ptr<ProcessRunner> make_real_process_runner(ChildGroup group) {
  return std::make_unique<RealProcessRunner>(group);
}

}  // namespace dsbuild
