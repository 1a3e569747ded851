#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>

#include "close_others.h"
#include "program.h"

namespace dsbuild {
namespace {

// An answer has some kilobytes.
constexpr size_t k_kept_output = 16 << 20;
// How often it is asked whether the program is still there while nothing comes from it.
constexpr int k_tick_ms = 50;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_;
};

// A pipe from the program. Both ends are close-on-exec, for whatever the caller's threads start meanwhile,
// and behind the standard descriptors, of which the caller may have closed some.
struct Pipe {
  Descriptor read, write;
};

Descriptor behind_the_standard_ones(Descriptor end) {
  return end.number() > STDERR_FILENO ? std::move(end)
                                      : Descriptor(::fcntl(end.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  pipe.read = behind_the_standard_ones(std::move(pipe.read));
  pipe.write = behind_the_standard_ones(std::move(pipe.write));
  if (pipe.read.number() < 0 || pipe.write.number() < 0) return std::nullopt;
  if (::fcntl(pipe.read.number(), F_SETFL, O_NONBLOCK) != 0) return std::nullopt;
  return pipe;
}

// A started program. Left behind while it runs, it is ended.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  ~Child() {
    if (has_ended(WNOHANG)) return;
    ::kill(id_, SIGTERM);
    has_ended(0);
  }

  // With 0 it waits for the end. Where SIGCHLD is ignored, or somebody in this process waits for any child,
  // there is no status to be had.
  bool has_ended(int options) {
    int status = 0;
    pid_t answer = 0;
    if (ended_) return true;
    do {
      answer = ::waitpid(id_, &status, options);
    } while (answer < 0 && errno == EINTR);
    ended_ = answer != 0;
    if (answer == id_) exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return ended_;
  }
  std::optional<int> exit_code() const { return exit_code_; }

 private:
  pid_t id_;
  bool ended_ = false;
  std::optional<int> exit_code_;
};

// Lines as they get whole.
class Lines {
 public:
  explicit Lines(const std::function<void(const char*)>& take) : take_(take) {}
  void add(const char* bytes, size_t count) {
    text_.append(bytes, count);
    size_t begin = 0;
    for (size_t end; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1)
      take_(text_.substr(begin, end - begin).c_str());
    text_.erase(0, begin);
  }
  void end() {
    if (!text_.empty()) take_(text_.c_str());
    text_.clear();
  }

 private:
  const std::function<void(const char*)>& take_;
  std::string text_;
};

// One stream of the program.
struct Stream {
  Descriptor from;
  std::function<void(const char*, size_t)> take;

  // What is there now. Closes the stream at its end.
  void read() {
    std::array<char, 16384> bytes{};
    while (from.number() >= 0) {
      const ssize_t count = ::read(from.number(), bytes.data(), bytes.size());
      if (count > 0)
        take(bytes.data(), static_cast<size_t>(count));
      else if (count == 0 || errno != EAGAIN)
        from.close();
      else
        return;
    }
  }
};

// Reads both streams to their ends. A copy of their other ends may be in a child that a thread of the caller
// forked meanwhile, so the program's own end is an end of them too.
void read_all(std::array<Stream, 2>& streams, Child& child) {
  while (streams[0].from.number() >= 0 || streams[1].from.number() >= 0) {
    std::array<pollfd, 2> waits{};
    for (size_t i = 0; i < waits.size(); ++i)
      waits[i] = {streams[i].from.number(), POLLIN, 0};
    const bool nothing_came = ::poll(waits.data(), waits.size(), k_tick_ms) == 0;
    const bool is_last = nothing_came && child.has_ended(WNOHANG);
    for (Stream& stream : streams)
      stream.read();
    if (is_last) return;
  }
}

// Descriptors and signals of the program, as posix_spawn takes them.
class Start {
 public:
  Start() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  Start(const Start&) = delete;
  ~Start() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void set_streams(int out, int err) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    if (::fcntl(err, F_GETFD) >= 0) ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    close_others(actions_, find_closefrom());
  }
  void set_signals() {
    sigset_t none, defaults;
    ::sigemptyset(&none);
    ::sigfillset(&defaults);
    for (const int kept : {SIGHUP, SIGINT, SIGQUIT})
      ::sigdelset(&defaults, kept);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  // 0, or why not.
  int spawn(const std::vector<std::string>& words, pid_t& id) const {
    std::vector<char*> argv;
    for (const std::string& word : words)
      argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    return ::posix_spawn(&id, argv[0], &actions_, &attributes_, argv.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

tl::unexpected<Error> cannot_start(const std::string& program, int reason) {
  return fail(Exit::unmet, "cannot_start", program,
              "cannot be started: " + std::error_code(reason, std::generic_category()).message());
}

}  // namespace

CloseFrom* find_closefrom() {
  return reinterpret_cast<CloseFrom*>(::dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np"));
}

void close_others(posix_spawn_file_actions_t& actions, CloseFrom* closefrom) {
  if (closefrom != nullptr) {
    closefrom(&actions, STDERR_FILENO + 1);
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* const entry = open ? ::readdir(open.get()) : nullptr) {
    int number = 0;  // of "." and ".."
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), number);
    if (number > STDERR_FILENO) ::posix_spawn_file_actions_addclose(&actions, number);
  }
}

Result<ProgramAnswer> run_program(const ProgramRun& run) {
  std::optional<Pipe> out = make_pipe();
  std::optional<Pipe> err = run.on_message ? make_pipe() : Pipe{Descriptor(), Descriptor()};
  if (!out || !err) return cannot_start(run.program, errno);
  Start start;
  start.set_streams(out->write.number(), run.on_message ? err->write.number() : STDERR_FILENO);
  start.set_signals();
  std::vector<std::string> words = run.arguments;
  words.insert(words.begin(), run.program);
  pid_t id = -1;
  if (const int reason = start.spawn(words, id)) return cannot_start(run.program, reason);
  Child child(id);
  out->write.close();
  err->write.close();

  ProgramAnswer answer;
  Lines lines(run.on_message);
  const auto keep = [&](const char* bytes, size_t count) {
    if (answer.out.size() + count <= k_kept_output) answer.out.append(bytes, count);
  };
  const auto tell = [&](const char* bytes, size_t count) { lines.add(bytes, count); };
  std::array<Stream, 2> streams{Stream{std::move(out->read), keep}, Stream{std::move(err->read), tell}};
  read_all(streams, child);
  lines.end();
  child.has_ended(0);
  answer.exit_code = child.exit_code();
  return answer;
}

}  // namespace dsbuild
