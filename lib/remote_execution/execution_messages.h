// Messages of the Remote Execution API v2 and of google/longrunning/operations.proto, as far as a client of
// Execution needs them. Renders requests, parses answers; nullopt: it is no such message.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/reapi_messages.h"

namespace dsbuild {

// A Directory. Maps, because the message has the names in sorted order.
struct ReapiDirectory {
  struct File {
    ReapiDigest digest;
    bool is_executable = false;
  };
  std::map<std::string, File> files = {};
  std::map<std::string, ReapiDigest> directories = {};
};
std::string render_directory(const ReapiDirectory& directory);

enum class CacheLookup { used, skipped };
std::string render_execute(const std::string& instance, const ReapiDigest& action, CacheLookup lookup);
std::string render_wait_execution(const std::string& operation);
std::string render_cancel_operation(const std::string& operation);

struct ReapiStatus {
  GrpcCode code = GrpcCode::ok;
  std::string words = {};
  std::chrono::milliseconds retry_delay{0};  // 0: it asks for none
};

struct ReapiOutputFile {
  std::string path;
  ReapiDigest digest;
  std::string contents;  // "": it is in the CAS
};

// From ExecutedActionMetadata: seconds since the epoch, 0 if unknown.
struct ReapiTimes {
  std::string worker;
  double execution_started = 0, execution_ended = 0;
};

struct ReapiResult {
  int exit_code = 0;
  std::vector<ReapiOutputFile> files = {};
  std::string out = {}, err = {};                // the output, if the message contains it
  ReapiDigest out_digest = {}, err_digest = {};  // else its digests; without a hash: no output
  ReapiTimes times = {};
};

enum class ReapiStage { unknown, cache_check, queued, executing, completed };

struct ReapiOperation {
  std::string name;
  ReapiStage stage = ReapiStage::unknown;
  bool is_done = false;
  // If `is_done`: the operation's error, or the response's status.
  ReapiStatus status = {};
  bool was_cached = false;
  std::optional<ReapiResult> result = {};
};
std::optional<ReapiOperation> parse_operation(std::string_view message);

}  // namespace dsbuild
