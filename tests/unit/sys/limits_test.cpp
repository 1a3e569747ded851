#include "sys/limits.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

using namespace dsbuild;

namespace {

// A soft limit for the length of a test.
class Lowered {
 public:
  Lowered(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource, &before_);
    const rlimit low{value, before_.rlim_max};
    ::setrlimit(resource, &low);
  }
  Lowered(const Lowered&) = delete;
  Lowered& operator=(const Lowered&) = delete;
  ~Lowered() { ::setrlimit(resource_, &before_); }

 private:
  const __rlimit_resource resource_;
  rlimit before_{};
};

}  // namespace

TEST_CASE("A refusal names the limit, its value and ulimit's option") {
  const Lowered files(RLIMIT_FSIZE, 1 << 30), processes(RLIMIT_NPROC, 5000);
  CHECK(limit_behind(EFBIG) ==
        "no file may be larger than 1.0 GiB; raise that limit (ulimit -f, now 1048576)");
  CHECK(limit_behind(EAGAIN).find("(ulimit -u, now 5000)") != std::string::npos);
  CHECK(limit_behind(EMFILE).find("ulimit -n") != std::string::npos);
  CHECK(limit_behind(ENOENT) == "");
}

TEST_CASE("What tools say of limits leads to them") {
  const Lowered files(RLIMIT_FSIZE, 1 << 30);
  CHECK(limit_named_in("as: fatal error: can't close x.o: File too large") == limit_behind(EFBIG));
  CHECK(limit_named_in("ninja: fatal: pipe: Too many open files") == limit_behind(EMFILE));
  CHECK(limit_named_in("g++: fatal error: vfork: Resource temporarily unavailable") == limit_behind(EAGAIN));
  CHECK(limit_named_in("cc1plus: out of memory allocating 1 bytes") == limit_behind(ENOMEM));
  CHECK(limit_named_in("a.cpp:1: error: x") == "");
  const std::string crash =
      "g++: internal compiler error: Segmentation fault signal terminated program cc1plus";
  CHECK(limit_named_in(crash) == "");
  const Lowered memory(RLIMIT_DATA, rlim_t{1} << 40);
  CHECK(limit_named_in(crash).find("ulimit -d") != std::string::npos);
}

TEST_CASE("A soft limit that is too low is raised as far as it must be") {
  const Lowered files(RLIMIT_NOFILE, 20);
  REQUIRE(raise_own_limits());
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == 32);
}

TEST_CASE("More files may be open where the hard limit allows that") {
  const Lowered files(RLIMIT_NOFILE, 64);
  const LimitPurpose purpose{"for --remote-jobs 64", ", or give a lower --remote-jobs"};
  rlimit now{};
  REQUIRE(allow_open_files(200, purpose));
  ::getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == 200);
  REQUIRE(allow_open_files(100, purpose));
  ::getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == 200);
  const auto refused = allow_open_files(now.rlim_max + 1, purpose);
  REQUIRE(!refused);
  CHECK(refused.error() ==
        make_error(
            Exit::unmet, "limit_too_low", "ulimit -n", "it is 200, which is too low for --remote-jobs 64",
            "Set it to " + std::to_string(now.rlim_max + 1) + " or more, or give a lower --remote-jobs."));
}

TEST_CASE("Memory and threads that were refused are limits; the rest is a fault") {
  CHECK(error_of(std::bad_alloc()).code == "limit_too_low");
  const std::system_error no_thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  CHECK(error_of(no_thread).code == "limit_too_low");
  CHECK(error_of(no_thread).exit == Exit::unmet);
  CHECK(error_of(std::logic_error("x")).code == "internal");
  CHECK(error_of(std::logic_error("x")).exit == Exit::internal);
}

TEST_CASE("What was refused before is said of the error that came of it") {
  note_refusal(EMFILE);
  const Error error = with_refusals(make_error(Exit::unmet, "no_compiler", "CXX", "none", "Install one."));
  CHECK(error.fix == "Install one.\n" + limit_behind(EMFILE));
  CHECK(with_refusals(error) == error);
}
