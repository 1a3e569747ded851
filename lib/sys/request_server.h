// Answers questions of this build's steps: a question and an answer are one line each. Each step has a
// connection, and each connection a thread, so a slow answer delays no other. Without a server (Ninja run by
// hand), steps get no answer.
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
  virtual ~RequestServer() = default;  // waiting steps get no answer
  virtual std::string name() const = 0;
};

// `answer` is called from many threads at once. Error: exit 1 `io`.
Result<std::unique_ptr<RequestServer>> open_request_server(
    std::function<std::string(const std::string& question)> answer);

// The server as a step sees it.
class RequestClient {
 public:
  // The environment's `variable` has the server's name. Connects at the first question.
  RequestClient(const Environment& environment, const char* variable);
  RequestClient(const RequestClient&) = delete;
  RequestClient& operator=(const RequestClient&) = delete;
  ~RequestClient();
  bool has_server() const { return !name_.empty(); }
  // nullopt: no answer.
  std::optional<std::string> ask(const std::string& question);

 private:
  std::string name_;
  std::unique_ptr<Descriptor> socket_;
};

}  // namespace dsbuild
