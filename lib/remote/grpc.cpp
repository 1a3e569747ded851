#include "remote/grpc.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "remote/protobuf.h"

namespace dsbuild {
namespace {

using std::chrono::milliseconds;

constexpr size_t k_prefix_bytes = 5;  // of a message: whether it is compressed, and its length, big-endian
constexpr size_t k_most_message_bytes = 300;
constexpr std::array k_code_names = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// Of grpc-message: bytes outside printable ASCII are "%E4".
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' && i + 2 < text.size()
                          ? whole_number<unsigned>(text.substr(i + 1, 2), 16)
                          : std::nullopt;
    decoded += byte ? static_cast<char>(*byte) : text[i];
    if (byte) i += 2;
  }
  return decoded;
}

// http-grpc-status-mapping.md: of a proxy, which sends no grpc-status.
GrpcCode code_of_status(long status) {
  switch (status) {
    case 400:
      return GrpcCode::internal;
    case 401:
      return GrpcCode::unauthenticated;
    case 403:
      return GrpcCode::permission_denied;
    case 404:
      return GrpcCode::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return GrpcCode::unavailable;
    default:
      return GrpcCode::unknown;
  }
}

std::optional<GrpcCode> code_of(const HttpResponse& response) {
  const auto number = whole_number<long>(response.header("grpc-status"));
  return number ? std::optional(grpc_code(*number)) : std::nullopt;
}

// google.protobuf.Duration.
milliseconds read_duration(protozero::pbf_reader message) {
  constexpr int64_t k_day = 86'400;  // seconds
  milliseconds duration{0};
  while (message.next()) {
    if (is_number(message, 1))
      duration += std::chrono::seconds(std::clamp<int64_t>(message.get_int64(), 0, k_day));
    else if (is_number(message, 2))
      duration += milliseconds(std::clamp(message.get_int32() / 1'000'000, 0, 1000));
    else
      message.skip();
  }
  return duration;
}

// google.rpc.RetryInfo {retry_delay = 1} in google.protobuf.Any {type_url = 1, value = 2}; 0: it is none.
milliseconds read_retry_info(protozero::pbf_reader any) {
  std::string type;
  protozero::data_view value;
  while (any.next()) {
    if (is_bytes(any, 1))
      type = any.get_string();
    else if (is_bytes(any, 2))
      value = any.get_view();
    else
      any.skip();
  }
  if (!type.ends_with("/google.rpc.RetryInfo")) return milliseconds(0);
  protozero::pbf_reader info(value);
  return info.next(1, protozero::pbf_wire_type::length_delimited) ? read_duration(info.get_message())
                                                                  : milliseconds(0);
}

// 0: the server does not say.
milliseconds retry_delay(const HttpResponse& response) {
  const auto bytes = base64_decoded(response.header("grpc-status-details-bin"));
  return bytes ? retry_delay_of_status(*bytes) : milliseconds(0);
}

// libcurl takes a connection that closes between the head and the trailers for the end of the answer.
bool is_broken_off(const HttpResponse& response) {
  return response.status == 200 && response.header("content-type").starts_with("application/grpc") &&
         response.header("grpc-status").empty();
}

std::optional<milliseconds> wait_of(const HttpResponse& response) {
  if (is_broken_off(response)) return milliseconds(0);
  const auto code = code_of(response);
  const bool is_sent_away = code == GrpcCode::unavailable || code == GrpcCode::resource_exhausted;
  return is_sent_away ? std::optional(retry_delay(response)) : std::nullopt;
}

// Of the message that the bytes begin with, with its prefix; nullopt: its length has not come, or it is
// compressed.
std::optional<size_t> size_of_frame(std::string_view bytes) {
  if (bytes.size() < k_prefix_bytes || bytes[0] != 0) return std::nullopt;
  size_t length = 0;
  for (size_t i = 1; i < k_prefix_bytes; ++i)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return k_prefix_bytes + length;
}

GrpcReply unanswered(const HttpResponse& response) {
  const GrpcCode otherwise = response.has_no_credentials ? GrpcCode::unauthenticated : GrpcCode::unavailable;
  return {.code = response.is_too_large ? GrpcCode::resource_exhausted : otherwise, .why = response.why};
}

GrpcReply reply_of(const HttpResponse& response) {
  if (response.status == 0 && response.header("grpc-status").empty()) return unanswered(response);
  if (is_broken_off(response)) return {.code = GrpcCode::unavailable, .why = "the answer broke off"};
  const auto code = code_of(response);
  if (!code && response.status != 200)
    return {.code = code_of_status(response.status), .why = describe_status(HttpVerb::post, response.status)};
  if (!code) return {.why = "the answer has no grpc-status: it is of no gRPC server"};
  if (*code != GrpcCode::ok)
    return {.code = *code,
            .why = describe_grpc_status(*code, percent_decoded(response.header("grpc-message"))),
            .retry_delay = retry_delay(response)};
  auto messages = read_grpc_messages(response.body);
  if (!messages) return {.code = GrpcCode::internal, .why = "the answer is not whole"};
  return {.code = GrpcCode::ok, .messages = std::move(*messages)};
}

}  // namespace

milliseconds retry_delay_of_status(std::string_view message) {
  milliseconds delay{0};
  try {
    protozero::pbf_reader status(message.data(), message.size());  // {details = 3}
    while (status.next(3, protozero::pbf_wire_type::length_delimited))
      delay = std::max(delay, read_retry_info(status.get_message()));
  } catch (const protozero::exception&) {
    return milliseconds(0);
  }
  return delay;
}

GrpcCode grpc_code(long number) {
  const bool is_known = number >= 0 && number <= static_cast<long>(GrpcCode::unauthenticated);
  return is_known ? static_cast<GrpcCode>(number) : GrpcCode::unknown;
}

std::string describe_grpc_status(GrpcCode code, std::string_view message) {
  std::string text = k_code_names.at(static_cast<size_t>(code));
  if (message.empty()) return text;
  const std::string line = replace_all(replace_all(trim(message), "\n", " "), "\r", " ");
  return text + ": " + visible(line.substr(0, k_most_message_bytes));
}

void add_grpc_message(std::string& frames, std::string_view message) {
  frames += '\0';
  for (int shift = 24; shift >= 0; shift -= 8)
    frames += static_cast<char>((message.size() >> shift) & 0xff);
  frames += message;
}

std::optional<std::vector<std::string>> read_grpc_messages(std::string_view frames) {
  std::vector<std::string> messages;
  while (!frames.empty()) {
    const auto size = size_of_frame(frames);
    if (!size || *size > frames.size()) return std::nullopt;
    messages.emplace_back(frames.substr(k_prefix_bytes, *size - k_prefix_bytes));
    frames.remove_prefix(*size);
  }
  return messages;
}

std::string grpc_binary_header(const std::string& name, std::string_view bytes) {
  return name + "-bin: " + base64(bytes);
}

namespace {

// Takes messages off the front of what has come of a stream, as they are whole.
std::function<void(std::string_view)> hand_on(std::function<void(const std::string&)> on_message) {
  return [on_message = std::move(on_message), rest = std::string()](std::string_view bytes) mutable {
    rest += bytes;
    for (auto size = size_of_frame(rest); size && *size <= rest.size(); size = size_of_frame(rest)) {
      on_message(rest.substr(k_prefix_bytes, *size - k_prefix_bytes));
      rest.erase(0, *size);
    }
  };
}

}  // namespace

GrpcChannel::GrpcChannel(std::unique_ptr<HttpClient> client, milliseconds deadline,
                         std::vector<std::string> headers)
    : client_(std::move(client)), deadline_(deadline), headers_(std::move(headers)) {}

HttpRequest GrpcChannel::request_of(const GrpcCall& call) const {
  HttpRequest request;
  request.verb = HttpVerb::post;
  request.url = client_->origin() + "/" + call.method;
  request.body = call.frames;
  request.is_repeatable = call.is_repeatable;
  request.deadline = call.deadline.value_or(deadline_);
  if (call.is_repeatable) request.wait_asked_for = wait_of;
  request.stop = call.stop;
  request.first_byte_deadline = call.first_byte_deadline;
  if (call.on_message) request.on_body = hand_on(call.on_message);
  request.headers = headers_;
  request.headers.insert(request.headers.end(),
                         {"content-type: application/grpc", "te: trailers",
                          "grpc-timeout: " + std::to_string(request.deadline->count()) + "m"});
  return request;
}

std::vector<GrpcReply> GrpcChannel::call(const std::vector<GrpcCall>& calls) const {
  std::vector<HttpRequest> requests;
  for (const GrpcCall& call : calls)
    requests.push_back(request_of(call));
  calls_ += calls.size();
  std::vector<GrpcReply> replies;
  for (const HttpResponse& response : client_->send(requests))
    replies.push_back(reply_of(response));
  return replies;
}

}  // namespace dsbuild
