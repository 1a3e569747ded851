// Gets the headers that identify the user to a server, from a program of the user. It has the protocol of
// Bazel's credential helpers (https://github.com/EngFlow/credential-helper-spec): the program gets the
// argument "get", reads {"uri": …} and writes {"headers": {"Authorization": ["Bearer …"]}, "expires":
// "2026-01-01T00:00:00Z"}.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "remote/s3_url.h"
#include "sys/system.h"

namespace dsbuild {

// Runs a program of the user for ten seconds at most, and returns its stdout. Error: exit 1 `bad_remote_url`,
// without any of its stdout.
ProgramRunner run_for_secrets(System& system);

class CredentialHelper {
 public:
  // `program`: a path, or a name on PATH. `system` outlives this.
  CredentialHelper(std::string program, System& system) : program_(std::move(program)), system_(system) {}

  // "Name: value" each; secrets. `uri`: the server, without user and password. May be called from any thread.
  // The program runs for ten seconds at most. Its answer is used until a minute before it expires, and
  // without `expires` until this process ends. After a failure, the program is not started again for ten
  // seconds. Error: exit 1 `bad_remote_url`, without any of the program's stdout.
  Result<std::vector<std::string>> headers(const std::string& uri);

 private:
  struct Answer {
    Result<std::vector<std::string>> headers;
    std::optional<int64_t> until;  // seconds since the epoch
  };
  Answer ask(const std::string& uri);

  const std::string program_;
  System& system_;
  std::mutex mutex_;  // guards the following; held while the program runs, so that it runs once
  std::optional<Answer> known_;
};

}  // namespace dsbuild
