#include "sys/job_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <future>
#include <vector>

#include "support/temp_folder.h"

namespace dsbuild {
namespace {

using namespace std::chrono_literals;

// The server's end of a pipe, with the bytes of two jobs in it.
class Pipe {
 public:
  Pipe() {
    REQUIRE(::pipe(ends_.data()) == 0);
    REQUIRE(::write(ends_[1], "ab", 2) == 2);
  }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::string numbers() const { return std::to_string(ends_[0]) + "," + std::to_string(ends_[1]); }
  int from() const { return ends_[0]; }
  int to() const { return ends_[1]; }
  // In the order of the alphabet.
  std::string bytes() const {
    std::string bytes(8, '\0');
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    const ssize_t size = ::read(ends_[0], bytes.data(), bytes.size());
    bytes.resize(size > 0 ? static_cast<size_t>(size) : 0);
    std::sort(bytes.begin(), bytes.end());
    return bytes;
  }

 private:
  std::array<int, 2> ends_{};
};

std::unique_ptr<JobServer> server_of(const std::string& flags) {
  return JobServer::of({{"MAKEFLAGS", flags}});
}

std::future<std::unique_ptr<Job>> ask_for(JobServer& server) {
  return std::async(std::launch::async, [&] { return server.take(); });
}

bool is_given(const std::future<std::unique_ptr<Job>>& job) {
  return job.wait_for(200ms) == std::future_status::ready;
}

}  // namespace

TEST_CASE("A jobserver's jobs are one more than its bytes, and it gets the bytes back") {
  const Pipe pipe;
  {
    const auto server = server_of(" -j3 --jobserver-auth=" + pipe.numbers());
    REQUIRE(server);
    std::vector<std::unique_ptr<Job>> held;
    for (int i = 0; i < 3; ++i)
      held.push_back(server->take());
    auto fourth = ask_for(*server);
    CHECK_FALSE(is_given(fourth));
    held.front().reset();  // the one that we have anyway
    REQUIRE(is_given(fourth));
    auto fifth = ask_for(*server);
    CHECK_FALSE(is_given(fifth));
    held.back().reset();
    CHECK(is_given(fifth));
  }
  CHECK(pipe.bytes() == "ab");
  CHECK((::fcntl(pipe.from(), F_GETFL) & O_NONBLOCK) != 0);  // by bytes()
}

TEST_CASE("A jobserver's pipe stays one in which others wait") {
  const Pipe pipe;
  const auto server = server_of("--jobserver-fds=" + pipe.numbers());
  REQUIRE(server);
  const auto job = server->take();
  CHECK((::fcntl(pipe.from(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("A jobserver may be a named pipe; the last that is named counts") {
  const TempFolder folder;
  const Path path = folder.path() / "jobs";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int both = ::open(path.c_str(), O_RDWR);
  REQUIRE(::write(both, "+", 1) == 1);
  const auto server =
      server_of("kw -j2 --jobserver-auth=77,78 --jobserver-auth=fifo:" + path.string() + " -- A=b");
  REQUIRE(server);
  const auto own = server->take(), other = server->take();
  auto third = ask_for(*server);
  CHECK_FALSE(is_given(third));
  REQUIRE(::write(both, "+", 1) == 1);
  CHECK(is_given(third));
  ::close(both);
}

TEST_CASE("There is no jobserver where none is named, or its pipe was closed") {
  const Pipe pipe, other;
  const TempFolder folder;
  const std::string mixed = std::to_string(pipe.from()) + "," + std::to_string(other.to());
  for (const std::string& flags :
       {std::string(), std::string("-j4"), std::string("--jobserver-auth=911,912"),
        std::string("--jobserver-auth=-2,-2"), std::string("--jobserver-auth=3"), "--jobserver-auth=" + mixed,
        "--jobserver-auth=" + std::to_string(pipe.to()) + "," + std::to_string(pipe.from()),
        "--jobserver-auth=fifo:" + (folder.path() / "none").string(),
        "--jobserver-auth=fifo:" + folder.path().string()}) {
    CAPTURE(flags);
    CHECK_FALSE(server_of(flags));
  }
}

TEST_CASE("A process that is killed by a signal gives its jobs back") {
  const Pipe pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // Catch has a handler
    const auto server = server_of("--jobserver-auth=" + pipe.numbers());
    const auto own = server->take(), first = server->take(), second = server->take();
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  CHECK(pipe.bytes() == "ab");
}

}  // namespace dsbuild
