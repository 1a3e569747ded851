// Answers what the steps of this build ask: one line, one answer. A connection for each step and a thread for
// each connection, so that a slow answer keeps no other waiting. Without a server (Ninja run by hand),
// nothing is answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "sys/process.h"

namespace dsbuild {

class Descriptor;

class RequestServer {
 public:
  virtual ~RequestServer() = default;  // who waits for an answer gets none
  virtual std::string name() const = 0;
};

// `answer` is called from many threads at once. Error: exit 1 `io`.
Result<std::unique_ptr<RequestServer>> open_request_server(
    std::function<std::string(const std::string& question)> answer);

// A step's side of it.
class RequestClient {
 public:
  // `variable` has the server's name. Connects at the first question.
  RequestClient(const Environment& environment, const char* variable);
  RequestClient(const RequestClient&) = delete;
  RequestClient& operator=(const RequestClient&) = delete;
  ~RequestClient();
  bool has_server() const { return !name_.empty(); }
  // nullopt: there is no answer.
  std::optional<std::string> ask(const std::string& question);

 private:
  std::string name_;
  std::unique_ptr<Descriptor> socket_;
};

}  // namespace dsbuild
