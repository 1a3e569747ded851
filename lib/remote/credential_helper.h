// Headers that say who we are to a server, from a program of the user, by the protocol of Bazel's credential
// helpers (https://github.com/EngFlow/credential-helper-spec): it is started with the word "get", reads
// {"uri": …} and writes {"headers": {"Authorization": ["Bearer …"]}, "expires": "2026-01-01T00:00:00Z"}.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "remote/s3_url.h"
#include "sys/system.h"

namespace dsbuild {

// Runs a program of the user for ten seconds at most. Error: exit 1 `bad_remote_url`, without what it wrote
// to stdout.
ProgramRunner run_for_secrets(System& system);

class CredentialHelper {
 public:
  // `program`: a path, or a name on PATH. `system` outlives this.
  CredentialHelper(std::string program, System& system) : program_(std::move(program)), system_(system) {}

  // "Name: value" each; secrets. `uri`: of the one server, without user and password. From any thread. The
  // program runs for ten seconds at most. Its answer is used until a minute before it expires, and without
  // `expires` until the process ends; a failure is not asked for again for ten seconds. Error: exit 1
  // `bad_remote_url`, which shows nothing of what it wrote to stdout.
  Result<std::vector<std::string>> headers(const std::string& uri);

 private:
  struct Answer {
    Result<std::vector<std::string>> headers;
    std::optional<int64_t> until;  // seconds since the epoch
  };
  Answer ask(const std::string& uri);

  const std::string program_;
  System& system_;
  std::mutex mutex_;  // of what follows; held while it is asked, so that it runs once
  std::optional<Answer> known_;
};

}  // namespace dsbuild
