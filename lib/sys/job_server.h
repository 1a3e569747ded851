// Client of a jobserver: a build tool that started us says in MAKEFLAGS how many jobs there may be, for all
// that it starts together. Source: GNU make's manual, "POSIX Jobserver Interaction"; Ninja 1.13 and cargo are
// servers too. A process has one job without asking; for each more it takes a byte from a pipe, and gives the
// same byte back.
#pragma once

#include <memory>

#include "sys/process.h"

namespace dsbuild {

class Job {
 public:
  virtual ~Job() = default;  // gives it back; so does the end of this process by SIGINT, SIGTERM or SIGHUP
};

class JobServer {
 public:
  // By `--jobserver-auth=fifo:PATH`, `--jobserver-auth=R,W` or `--jobserver-fds=R,W`. nullptr: there is none,
  // or make has closed its pipe to us, as it does (before 4.4) where a recipe's line does not begin with "+".
  static std::unique_ptr<JobServer> of(const Environment& environment);

  virtual ~JobServer() = default;
  virtual std::unique_ptr<Job> take() = 0;  // waits; any thread
};

}  // namespace dsbuild
