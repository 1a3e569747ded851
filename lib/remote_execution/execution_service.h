// Runs one Action by the Execution service of a server (Remote Execution API v2): its inputs go there, it
// runs, and its outputs come back. A fault on the way is followed by another try where that can help; a
// caller that gets no result runs the tool itself.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <stop_token>

#include "remote/reapi_cas.h"
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
  // `cas`: of the server. `streams`: for calls that take as long as the tools. Inputs are in memory only
  // while they are on their way, and those of `most_uploads` actions at once.
  ExecutionService(std::unique_ptr<ReapiCas> cas, std::unique_ptr<ReapiCas> streams, const FileReader& files,
                   size_t most_uploads = 64);

  // "": it executes. Else why not. Asks the server, once.
  std::string why_not();
  ExecutionEnd execute(const ExecutionRequest& request);
  uint64_t bytes_sent() const { return cas_->bytes_sent(); }  // of files, as they travelled
  uint64_t bytes_received() const { return cas_->bytes_received(); }
  uint64_t calls() const { return cas_->channel().calls() + streams_->channel().calls(); }
  // Ends what runs in other threads; what is asked later fails at once.
  void cancel();

 private:
  class Run;
  friend class Run;

  const std::unique_ptr<ReapiCas> cas_, streams_;
  const FileReader& files_;
  std::counting_semaphore<> uploads_;

  std::mutex mutex_;             // of what follows
  std::set<std::string> there_;  // digests of tools that the server has
};

// `options.url`: "reapi://host[:port]/instance" or "reapis://…". `slots`: actions at once. Sends nothing yet.
// Errors: those of open_http_client().
Result<std::unique_ptr<ExecutionService>> open_execution_service(const HttpOptions& options, size_t slots,
                                                                 const FileReader& files);

}  // namespace dsbuild
