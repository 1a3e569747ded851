// Client of a jobserver: MAKEFLAGS of the build tool that started dsbuild leads to it. It limits the jobs of
// all processes that the tool started. Source: GNU make's manual, "POSIX Jobserver Interaction"; Ninja 1.13
// and cargo are servers too. A process has one job without asking; for each further job it takes a byte from
// a pipe, and later writes the same byte back.
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
