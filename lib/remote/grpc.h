// Calls by gRPC over HTTP/2 (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): unary and streaming
// ones, many at once. Messages are bytes here. All messages of a request are sent at once. A call is tried up
// to three times within its deadline if the server answers UNAVAILABLE or RESOURCE_EXHAUSTED, or if the
// answer broke off. The next try comes after the time that the server asks for (RetryInfo), else after 250
// and 500 ms.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http_client.h"

namespace dsbuild {

// google.rpc.Code. Other numbers are `unknown`.
enum class GrpcCode {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

GrpcCode grpc_code(long number);

// "UNAVAILABLE: the disk is full": one line, no longer than 300 bytes.
std::string describe_grpc_status(GrpcCode code, std::string_view message);

struct GrpcCall {
  std::string method;       // "google.bytestream.ByteStream/Read"
  std::string frames = {};  // the request's messages, by add_grpc_message()
  // Whether it may be sent again after the server has seen it.
  bool is_repeatable = true;
  // For all tries together, instead of HttpOptions::deadline.
  std::optional<std::chrono::milliseconds> deadline = {};
  // Gets each message of a stream as it arrives, even if the call fails later. Only for a call that is not
  // repeatable. Called by the client's thread; must not throw.
  std::function<void(const std::string& message)> on_message = {};
  // For the arrival of the answer's first byte.
  std::optional<std::chrono::milliseconds> first_byte_deadline = {};
  std::stop_token stop = {};
};

struct GrpcReply {
  // `unavailable` if no server took the call, or it broke off. `resource_exhausted` if a body is larger than
  // k_most_body_bytes. `unauthenticated` if the credential helper gave no headers.
  GrpcCode code = GrpcCode::unknown;
  std::string why = {};                    // if the code is not `ok`: one line for the user, without secrets
  std::vector<std::string> messages = {};  // if the code is `ok`
  std::chrono::milliseconds retry_delay{0};  // the wait that the server asks for; 0: it asks for none

  bool is_ok() const { return code == GrpcCode::ok; }
};

// The wait before the next try that a google.rpc.Status asks for (RetryInfo); 0: it asks for none.
std::chrono::milliseconds retry_delay_of_status(std::string_view message);

// Appends one message, with its length in front.
void add_grpc_message(std::string& frames, std::string_view message);
// nullopt: the last message is incomplete, or one is compressed, which no call permits.
std::optional<std::vector<std::string>> read_grpc_messages(std::string_view frames);

// "name-bin: value", with the value in base64.
std::string grpc_binary_header(const std::string& name, std::string_view bytes);

class GrpcChannel {
 public:
  // Calls go to the server of the client's URL, whose path is ignored. `deadline`: the client's. `headers`
  // are sent with each call.
  GrpcChannel(std::unique_ptr<HttpClient> client, std::chrono::milliseconds deadline,
              std::vector<std::string> headers);

  // From any thread. Replies have the order of the calls.
  std::vector<GrpcReply> call(const std::vector<GrpcCall>& calls) const;
  void cancel() { client_->cancel(); }
  // How many calls were made so far; further tries do not count.
  uint64_t calls() const { return calls_; }

 private:
  HttpRequest request_of(const GrpcCall& call) const;

  const std::unique_ptr<HttpClient> client_;
  const std::chrono::milliseconds deadline_;
  const std::vector<std::string> headers_;
  mutable std::atomic<uint64_t> calls_ = 0;
};

}  // namespace dsbuild
