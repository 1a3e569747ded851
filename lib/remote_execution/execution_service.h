// Runs one Action by the Execution service of a server (Remote Execution API v2): its inputs go there, it
// runs, and its outputs come back. A fault on the way is followed by another try where that can help; a
// caller that gets no result runs the tool itself.
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
  std::map<std::string, Path> inputs;  // in the working directory; read once or twice
  std::vector<std::string> required;   // of the command's outputs, what has to be there
  const RemoteTools* tools = nullptr;  // nullptr: the worker has them
  std::string salt;
  CacheLookup lookup = CacheLookup::used;
  // For all of it: going there, the queue, the tool.
  std::chrono::milliseconds deadline{600'000};
  std::stop_token stop = {};
  // The server has said where it stands. Called by another thread.
  std::function<void(ReapiStage)> on_stage = {};
};

struct ExecutionOutput {
  std::string name, bytes;
};

struct ExecutionEnd {
  enum class State {
    done,     // the tool has run and its outputs are here; its exit code may be any
    failed,   // this time
    refused,  // it executes nothing for us, and that will stay so
    cancelled,
  };
  State state = State::failed;
  std::string why = {};  // of refused and failed: one line for a user
  int exit_code = 0;
  std::string out = {}, err = {};
  std::vector<ExecutionOutput> outputs = {};  // of those that the command names
  bool was_cached = false;                    // the server had the result
  ReapiTimes times = {};
};

// All from any thread.
class ExecutionService {
 public:
  virtual ~ExecutionService() = default;
  virtual ExecutionEnd execute(const ExecutionRequest& request) = 0;
  // Of files, as they travelled.
  virtual uint64_t bytes_sent() const = 0;
  virtual uint64_t bytes_received() const = 0;
  virtual uint64_t calls() const = 0;
};

// `options.url`: "reapi://host[:port]/instance" or "reapis://…". `slots`: actions at once. Inputs are in
// memory only while they are on their way. Sends nothing yet. Errors: those of open_http_client().
Result<std::unique_ptr<ExecutionService>> open_execution_service(const HttpOptions& options, size_t slots,
                                                                 const FileReader& files);

}  // namespace dsbuild
