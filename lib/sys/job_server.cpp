#include "sys/job_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>

#include "base/text.h"
#include "sys/descriptor.h"
#include "sys/system.h"

namespace dsbuild {
namespace {

// How often the job that we have anyway is looked for beside the pipe.
constexpr int k_look_milliseconds = 10;

// The bytes that we hold, for a signal's handler; -1 holds none.
std::array<std::atomic<int>, 1024> held_bytes;
std::atomic<int> pipe_of_held_bytes = -1;

void give_back(std::atomic<int>& held) {
  const int byte = held.exchange(-1);
  const char given = static_cast<char>(byte);
  if (byte < 0) return;
  while (::write(pipe_of_held_bytes, &given, 1) < 0 && errno == EINTR) {
  }
}

void give_all_back(int signal) {
  for (std::atomic<int>& held : held_bytes)
    give_back(held);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void give_back_when_killed(int to_pipe) {
  for (std::atomic<int>& held : held_bytes)
    held = -1;
  pipe_of_held_bytes = to_pipe;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = give_all_back;
    ::sigaction(signal, &action, nullptr);
  }
}

class HeldJob : public Job {
 public:
  explicit HeldJob(std::function<void()> give_back) : give_back_(std::move(give_back)) {}
  ~HeldJob() override { give_back_(); }
  HeldJob(const HeldJob&) = delete;
  HeldJob& operator=(const HeldJob&) = delete;

 private:
  const std::function<void()> give_back_;
};

// Opened anew, so that our not waiting in read(2) is not that of all who have the pipe.
class PipeServer : public JobServer {
 public:
  PipeServer(Descriptor from, Descriptor to) : from_(std::move(from)), to_(std::move(to)) {
    give_back_when_killed(to_.number());
  }
  ~PipeServer() override { pipe_of_held_bytes = -1; }
  PipeServer(const PipeServer&) = delete;
  PipeServer& operator=(const PipeServer&) = delete;

  std::unique_ptr<Job> take() override {
    while (true) {
      if (own_is_free_.exchange(false)) return std::make_unique<HeldJob>([this] { own_is_free_ = true; });
      if (auto job = take_byte()) return job;
      pollfd look{from_.number(), POLLIN, 0};
      ::poll(&look, 1, k_look_milliseconds);
    }
  }

 private:
  std::unique_ptr<Job> take_byte() const {
    unsigned char byte = 0;
    if (::read(from_.number(), &byte, 1) != 1) return nullptr;
    for (std::atomic<int>& held : held_bytes) {
      int none = -1;
      if (held.compare_exchange_strong(none, byte))
        return std::make_unique<HeldJob>([&held] { give_back(held); });
    }
    (void)::write(to_.number(), &byte, 1);
    return nullptr;
  }

  const Descriptor from_, to_;
  std::atomic<bool> own_is_free_ = true;
};

// Of the last such word: make says it again for what is below it.
std::string named_in(const std::string& flags) {
  std::string named;
  for (const std::string& word : split(flags, " "))
    for (const std::string_view option : {"--jobserver-auth=", "--jobserver-fds="})
      if (word.starts_with(option)) named = word.substr(option.size());
  return named;
}

// Whether two descriptors are the ends of one pipe: numbers that make has closed may be others' by now.
bool is_pipe(int from, int to) {
  struct stat first{}, second{};
  const int how_first = ::fcntl(from, F_GETFL), how_second = ::fcntl(to, F_GETFL);
  return ::fstat(from, &first) == 0 && ::fstat(to, &second) == 0 && S_ISFIFO(first.st_mode) &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino && how_first >= 0 &&
         (how_first & O_ACCMODE) != O_WRONLY && how_second >= 0 && (how_second & O_ACCMODE) != O_RDONLY;
}

std::unique_ptr<JobServer> open_pipe(const Path& from, const Path& to) {
  Descriptor first = open_file(from, O_RDONLY | O_NONBLOCK), second = open_file(to, O_WRONLY | O_NONBLOCK);
  if (!first.is_open() || !second.is_open()) return nullptr;
  return std::make_unique<PipeServer>(std::move(first), std::move(second));
}

}  // namespace

std::unique_ptr<JobServer> JobServer::of(const Environment& environment) {
  const std::string named = named_in(variable(environment, "MAKEFLAGS"));
  constexpr std::string_view fifo = "fifo:";
  if (named.starts_with(fifo)) {
    const std::string path = named.substr(fifo.size());
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) ? open_pipe(path, path) : nullptr;
  }
  const std::vector<std::string> numbers = split(named, ",");
  if (numbers.size() != 2) return nullptr;
  const auto from = whole_number<int>(numbers[0]), to = whole_number<int>(numbers[1]);
  if (!from || !to || !is_pipe(*from, *to)) return nullptr;
  const std::string descriptors = "/proc/self/fd/";
  return open_pipe(descriptors + numbers[0], descriptors + numbers[1]);
}

}  // namespace dsbuild
