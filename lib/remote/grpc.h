// Calls by gRPC over HTTP/2 (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): unary ones and streams,
// many at once. Messages are bytes here. A stream is sent whole.
// A call that the server sends away (UNAVAILABLE, RESOURCE_EXHAUSTED) is tried three times within its
// deadline, after the time that the server asks for (RetryInfo), or after 250 and 500 ms. So is one whose
// answer broke off.
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

// google.rpc.Code. Of others, `unknown`.
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
  std::string frames = {};  // messages, by add_grpc_message()
  // Whether it may be sent again after the server has seen it.
  bool is_repeatable = true;
  // Over all tries, instead of HttpOptions::deadline.
  std::optional<std::chrono::milliseconds> deadline = {};
  // Gets each message of a stream as it comes, of a call that is not repeatable, also of one that ends badly.
  // Another thread calls it; it throws nothing.
  std::function<void(const std::string& message)> on_message = {};
  // Until the first byte of the answer has come.
  std::optional<std::chrono::milliseconds> first_byte_deadline = {};
  std::stop_token stop = {};
};

struct GrpcReply {
  // Where no server took the call, or it broke off: `unavailable`. Where a body is larger than
  // k_most_body_bytes: `resource_exhausted`. Where the helper gave no headers: `unauthenticated`.
  GrpcCode code = GrpcCode::unknown;
  std::string why = {};                    // where the code is not `ok`: one line for a user, without secrets
  std::vector<std::string> messages = {};  // where the code is `ok`
  std::chrono::milliseconds retry_delay{0};  // that the server asks for; 0: it does not say

  bool is_ok() const { return code == GrpcCode::ok; }
};

// What a google.rpc.Status says of when to try again (RetryInfo); 0: it does not say.
std::chrono::milliseconds retry_delay_of_status(std::string_view message);

// Puts one message with its length at the end.
void add_grpc_message(std::string& frames, std::string_view message);
// nullopt: the last is not whole, or one is compressed, which no call permits.
std::optional<std::vector<std::string>> read_grpc_messages(std::string_view frames);

// "name-bin: value" of bytes, in base64.
std::string grpc_binary_header(const std::string& name, std::string_view bytes);

class GrpcChannel {
 public:
  // To the server of the client's URL, whose path plays no part. `deadline`: that of the client. `headers`
  // go with each call.
  GrpcChannel(std::unique_ptr<HttpClient> client, std::chrono::milliseconds deadline,
              std::vector<std::string> headers);

  // From any thread. Replies have the order of the calls.
  std::vector<GrpcReply> call(const std::vector<GrpcCall>& calls) const;
  void cancel() { client_->cancel(); }
  // How many calls were made so far, each once.
  uint64_t calls() const { return calls_; }

 private:
  HttpRequest request_of(const GrpcCall& call) const;

  const std::unique_ptr<HttpClient> client_;
  const std::chrono::milliseconds deadline_;
  const std::vector<std::string> headers_;
  mutable std::atomic<uint64_t> calls_ = 0;
};

}  // namespace dsbuild
