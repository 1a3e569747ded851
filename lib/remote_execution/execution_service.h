// Runs one Action with the Execution service of a server (Remote Execution API v2): uploads its inputs,
// executes it, downloads its outputs. After a failure it tries again if that can help. A caller that gets no
// result runs the tool itself.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include "remote/http_client.h"
#include "remote_execution/input_tree.h"

namespace dsbuild {

struct ExecutionRequest {
  ReapiCommand command;
  std::map<std::string, Path> inputs;  // by name by name in the working directory; read once or twice
  std::vector<std::string> required;   // those of the command's outputs that must exist
  const RemoteTools* tools = nullptr;  // nullptr: the worker has the tools
  std::string salt;
  CacheLookup lookup = CacheLookup::used;
  // For everything: the transfers, the queue, the tool.
  std::chrono::milliseconds deadline{600'000};
  std::stop_token stop = {};
  // Called with each stage that the server reports, by a different thread.
  std::function<void(ReapiStage)> on_stage = {};
};

struct ExecutionOutput {
  std::string name, bytes;
};

struct ExecutionEnd {
  enum class State {
    done,     // the tool has run, with any exit code, and its outputs are here
    failed,   // no result no result this time
    refused,  // the server does not execute for this user; further tries are useless
    cancelled,
  };
  State state = State::failed;
  std::string why = {};  // for refused and failed: one line for the user
  int exit_code = 0;
  std::string out = {}, err = {};
  std::vector<ExecutionOutput> outputs = {};  // those that exist of the command's outputs
  bool was_cached = false;                    // the server had the result
  ReapiTimes times = {};
};

// All functions may be called from any thread.
class ExecutionService {
 public:
  virtual ~ExecutionService() = default;
  virtual ExecutionEnd execute(const ExecutionRequest& request) = 0;
  // Bytes of files as they were sent and received.
  virtual uint64_t bytes_sent() const = 0;
  virtual uint64_t bytes_received() const = 0;
  virtual uint64_t calls() const = 0;
};

// `options.url`: "reapi://host[:port]/instance" or "reapis://…". `slots`: how many actions run at the same
// time. Inputs are in memory only during their upload. Sends nothing yet. Errors: those of
// open_http_client().
Result<std::unique_ptr<ExecutionService>> open_execution_service(const HttpOptions& options, size_t slots,
                                                                 const FileReader& files);

}  // namespace dsbuild
