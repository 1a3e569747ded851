#include "remote/reapi_cas.h"

#include <algorithm>
#include <deque>
#include <random>

#include "base/compress.h"
#include "base/version.h"
#include "remote/grpc.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// gRPC's servers take messages of 4 MiB by default.
constexpr uint64_t k_most_batch_bytes = uint64_t{3} << 20;
constexpr uint64_t k_head_bytes = 128;  // of one blob in a message: its digest, lengths and tags
constexpr size_t k_chunk_bytes = size_t{1} << 20;
constexpr size_t k_least_packed_bytes = 1024;  // what is smaller gains nothing
constexpr int k_most_writes = 2;
constexpr int64_t k_there_already = -1;  // the committed size of a packed blob that the server has

constexpr const char* k_cas = "build.bazel.remote.execution.v2.ContentAddressableStorage/";
constexpr const char* k_byte_stream = "google.bytestream.ByteStream/";

// RFC 9562, version 4.
std::string make_uuid() {
  constexpr std::string_view k_hex = "0123456789abcdef";
  std::random_device random;
  std::string uuid = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& letter : uuid) {
    if (letter == 'x') letter = k_hex[random() & 15];
    if (letter == 'y') letter = k_hex[8 | (random() & 3)];
  }
  return uuid;
}

State state_of_code(GrpcCode code, bool is_put) {
  switch (code) {
    case GrpcCode::ok:
      return State::done;
    case GrpcCode::already_exists:
      return is_put ? State::done : State::failed;
    case GrpcCode::not_found:
      return is_put ? State::failed : State::absent;
    case GrpcCode::unauthenticated:
    case GrpcCode::permission_denied:
      return State::refused;
    case GrpcCode::resource_exhausted:  // a quota
    case GrpcCode::unimplemented:
      return is_put ? State::refused : State::failed;
    default:
      return State::failed;
  }
}

// Groups of blobs, none larger than `most` with the heads of its blobs.
template <class Blob, class Size>
std::vector<std::vector<Blob>> batches_of(const std::vector<Blob>& blobs, uint64_t most, const Size& size) {
  std::vector<std::vector<Blob>> batches;
  uint64_t room = 0;
  for (const Blob& blob : blobs) {
    const uint64_t bytes = size(blob) + k_head_bytes;
    if (batches.empty() || bytes > room) {
      batches.emplace_back();
      room = most;
    }
    batches.back().push_back(blob);
    room -= std::min(bytes, room);
  }
  return batches;
}

// A compiler of 70 MB takes a slow line a minute. What most files are like the deadline itself is enough for.
milliseconds time_for(const std::vector<ReapiBlob>& blobs) {
  constexpr uint64_t k_within_deadline = uint64_t{8} << 20, k_bytes_per_millisecond = 1024;
  uint64_t bytes = 0;
  for (const ReapiBlob& blob : blobs)
    bytes += blob.data.size();
  return milliseconds((bytes - std::min(bytes, k_within_deadline)) / k_bytes_per_millisecond);
}

}  // namespace

bool ReapiServer::batches(uint64_t bytes) const {
  return bytes + k_head_bytes <= most_batch_bytes;
}

void BlobAnswers::answer(const std::string& hash, RemoteAnswer answer) {
  const auto found = answers_.find(hash);
  if (found != answers_.end()) found->second.answer = std::move(answer);
}

RemoteAnswer BlobAnswers::take(const std::string& hash) {
  Entry& entry = answers_.at(hash);
  return --entry.questions == 0 ? std::move(entry.answer) : entry.answer;
}

ReapiCas::ReapiCas(std::unique_ptr<HttpClient> client, milliseconds deadline, std::string origin,
                   std::string instance)
    : deadline_(deadline),
      origin_(std::move(origin)),
      instance_(std::move(instance)),
      channel_(std::move(client), deadline,
               {grpc_binary_header("build.bazel.remote.execution.v2.requestmetadata",
                                   render_request_metadata(k_version, make_uuid()))}) {}

RemoteAnswer ReapiCas::answer_of(const std::string& method, GrpcCode code, const std::string& why,
                                 bool is_put) const {
  RemoteAnswer answer{state_of_code(code, is_put)};
  if (answer.state == State::refused || answer.state == State::failed)
    answer.why = origin_ + ": " + method.substr(method.rfind('/') + 1) + ": " + why;
  return answer;
}

RemoteAnswer ReapiCas::nonsense(const std::string& method, const std::string& what) const {
  return answer_of(method, GrpcCode::internal, what, false);
}

GrpcCall ReapiCas::unary(const std::string& method, const std::string& message) {
  GrpcCall call{.method = method};
  add_grpc_message(call.frames, message);
  return call;
}

// "instance/blobs/<hash>/<bytes>"; the bytes are those of the unpacked blob.
std::string ReapiCas::resource(const std::string& before, const ReapiDigest& digest, bool is_packed) const {
  const std::string prefix = instance_.empty() ? "" : instance_ + "/";
  return prefix + before + (is_packed ? "compressed-blobs/zstd/" : "blobs/") + digest.hash + "/" +
         std::to_string(digest.bytes);
}

const ReapiServer& ReapiCas::server() {
  const std::lock_guard lock(mutex_);
  if (!server_) server_ = ask_server();
  return *server_;
}

ReapiServer ReapiCas::ask_server() const {
  const std::string method = "build.bazel.remote.execution.v2.Capabilities/GetCapabilities";
  const GrpcReply reply = channel_.call({unary(method, render_get_capabilities(instance_))}).front();
  if (!reply.is_ok()) {
    RemoteAnswer answer = answer_of(method, reply.code, reply.why, false);
    if (answer.state == State::absent) answer = nonsense(method, reply.why);
    return {.state = answer.state, .why = std::move(answer.why)};
  }
  const auto known = reply.messages.size() == 1 ? parse_capabilities(reply.messages.front()) : std::nullopt;
  if (!known)
    return {.state = State::failed, .why = nonsense(method, "the answer is not a ServerCapabilities").why};
  if (!known->has_sha256)
    return {.state = State::refused, .why = origin_ + ": the server has no cache of SHA-256 digests"};
  ReapiServer server;
  server.most_batch_bytes = known->most_batch_bytes == 0
                                ? k_most_batch_bytes
                                : std::min(known->most_batch_bytes, k_most_batch_bytes);
  server.takes_packed_batches = known->takes_packed_batches;
  server.takes_packed_streams = known->takes_packed_streams;
  server.takes_output_paths = known->takes_output_paths;
  if (!known->takes_results)
    server.takes_no_results = origin_ + ": the server takes no results (update_enabled is false)";
  if (!known->executes)
    server.executes_nothing = origin_ + ": the server executes nothing (exec_enabled is false)";
  return server;
}

// Small ones together, and each of the others by a stream.
void ReapiCas::get(const Digests& digests, BlobAnswers& answers) {
  const ReapiServer& known = server();
  Digests small, large;
  for (const ReapiDigest& digest : digests)
    (known.batches(digest.bytes) ? small : large).push_back(digest);
  const auto batches =
      batches_of(small, known.most_batch_bytes, [](const ReapiDigest& digest) { return digest.bytes; });
  std::vector<GrpcCall> calls;
  for (const Digests& batch : batches)
    calls.push_back(unary(std::string(k_cas) + "BatchReadBlobs", render_batch_read(instance_, batch)));
  for (const ReapiDigest& digest : large)
    calls.push_back(unary(std::string(k_byte_stream) + "Read", render_read(resource("", digest, false))));
  const auto replies = channel_.call(calls);
  for (size_t i = 0; i < batches.size(); ++i)
    take_batch(batches[i], replies[i], answers);
  for (size_t i = 0; i < large.size(); ++i)
    answers.answer(large[i].hash, take_stream(large[i], replies[batches.size() + i]));
}

void ReapiCas::take_batch(const Digests& batch, const GrpcReply& reply, BlobAnswers& answers) const {
  const std::string method = std::string(k_cas) + "BatchReadBlobs";
  answers.answer_all(batch, nonsense(method, "a file has no answer"));
  if (!reply.is_ok()) return answers.answer_all(batch, answer_of(method, reply.code, reply.why, false));
  auto found = reply.messages.size() == 1 ? parse_batch_read(reply.messages.front()) : std::nullopt;
  if (!found)
    return answers.answer_all(batch, nonsense(method, "the answer is not a BatchReadBlobsResponse"));
  for (ReapiBlobAnswer& blob : *found) {
    if (std::ranges::find(batch, blob.digest) == batch.end()) continue;
    RemoteAnswer answer = answer_of(method, blob.code, describe_grpc_status(blob.code, blob.words), false);
    if (blob.code == GrpcCode::ok && blob.data.size() != blob.digest.bytes)
      answer = nonsense(method, "a file has not the size of its digest");
    bytes_received_ += blob.data.size();
    if (answer.state == State::done) answer.bytes = std::move(blob.data);
    answers.answer(blob.digest.hash, std::move(answer));
  }
}

RemoteAnswer ReapiCas::take_stream(const ReapiDigest& digest, const GrpcReply& reply) const {
  const std::string method = std::string(k_byte_stream) + "Read";
  RemoteAnswer answer = answer_of(method, reply.code, reply.why, false);
  if (!reply.is_ok()) return answer;
  for (const std::string& message : reply.messages) {
    const auto piece = parse_read(message);
    if (!piece) return nonsense(method, "the answer is not a ReadResponse");
    if (answer.bytes.size() <= digest.bytes) answer.bytes += *piece;
    bytes_received_ += piece->size();
  }
  return answer.bytes.size() == digest.bytes ? answer
                                             : nonsense(method, "a file has not the size of its digest");
}

// Done or absent.
void ReapiCas::find(const Digests& digests, BlobAnswers& answers) const {
  const std::string method = std::string(k_cas) + "FindMissingBlobs";
  const auto batches = batches_of(digests, k_most_batch_bytes, [](const ReapiDigest&) { return 0; });
  std::vector<GrpcCall> calls;
  for (const Digests& batch : batches)
    calls.push_back(unary(method, render_find_missing(instance_, batch)));
  const auto replies = channel_.call(calls);
  for (size_t i = 0; i < batches.size(); ++i) {
    const GrpcReply& reply = replies[i];
    const auto missing =
        reply.is_ok() && reply.messages.size() == 1 ? parse_missing(reply.messages.front()) : std::nullopt;
    if (!reply.is_ok())
      answers.answer_all(batches[i], answer_of(method, reply.code, reply.why, true));
    else if (!missing)
      answers.answer_all(batches[i], nonsense(method, "the answer is not a FindMissingBlobsResponse"));
    else
      answers.answer_all(batches[i], {State::done});
    if (missing) answers.answer_all(*missing, {State::absent});
  }
}

void ReapiCas::put(const Blobs& blobs, BlobAnswers& answers, Packing packing) {
  Digests digests;
  for (const ReapiBlob& blob : blobs)
    digests.push_back(blob.digest);
  find(digests, answers);
  send(blobs, answers, packing);
}

// Small ones together, and each of the others by a stream, all at once.
void ReapiCas::send(const Blobs& blobs, BlobAnswers& answers, Packing packing) {
  const ReapiServer& known = server();
  std::deque<std::string> packed;  // that blobs refer to
  Blobs small, large;
  for (ReapiBlob blob : blobs) {
    if (answers.state(blob.digest.hash) != State::absent) continue;
    const bool is_small = known.batches(blob.digest.bytes);
    const bool takes_packed = is_small ? known.takes_packed_batches : known.takes_packed_streams;
    if (packing == Packing::zstd && takes_packed && blob.digest.bytes >= k_least_packed_bytes)
      if (auto bytes = compress(blob.data)) {
        packed.push_back(std::move(*bytes));
        blob.data = packed.back();
        blob.is_packed = true;
      }
    bytes_sent_ += blob.data.size();
    (is_small ? small : large).push_back(blob);
  }
  const auto end = steady_clock::now() + deadline_ + time_for(large);
  const auto batches =
      batches_of(small, known.most_batch_bytes, [](const ReapiBlob& blob) { return blob.digest.bytes; });
  std::vector<GrpcCall> calls;
  for (const Blobs& batch : batches)
    calls.push_back(unary(std::string(k_cas) + "BatchUpdateBlobs", render_batch_update(instance_, batch)));
  for (const ReapiBlob& blob : large)
    calls.push_back(write_call(blob, end));
  const auto replies = channel_.call(calls);
  for (size_t i = 0; i < batches.size(); ++i)
    take_update(batches[i], replies[i], answers);
  finish_streams(std::move(large),
                 {replies.begin() + static_cast<std::ptrdiff_t>(batches.size()), replies.end()}, end,
                 answers);
}

void ReapiCas::take_update(const Blobs& batch, const GrpcReply& reply, BlobAnswers& answers) const {
  const std::string method = std::string(k_cas) + "BatchUpdateBlobs";
  if (!reply.is_ok()) return answers.answer_all(batch, answer_of(method, reply.code, reply.why, true));
  answers.answer_all(batch, nonsense(method, "a file has no answer"));
  const auto taken = reply.messages.size() == 1 ? parse_batch_update(reply.messages.front()) : std::nullopt;
  for (const ReapiBlobAnswer& blob : taken.value_or(std::vector<ReapiBlobAnswer>{}))
    if (std::ranges::find(batch, blob.digest, &ReapiBlob::digest) != batch.end())
      answers.answer(blob.digest.hash,
                     answer_of(method, blob.code, describe_grpc_status(blob.code, blob.words), true));
}

// The name of an upload is its own: a server may keep what it got of one that broke off, so a second try has
// a new name.
GrpcCall ReapiCas::write_call(const ReapiBlob& blob, steady_clock::time_point end) const {
  const std::string name = resource("uploads/" + make_uuid() + "/", blob.digest, blob.is_packed);
  GrpcCall call{.method = std::string(k_byte_stream) + "Write",
                .is_repeatable = false,
                .deadline = std::chrono::duration_cast<milliseconds>(end - steady_clock::now())};
  size_t offset = 0;
  do {
    const std::string_view piece = blob.data.substr(offset, k_chunk_bytes);
    const bool is_last = offset + piece.size() == blob.data.size();
    add_grpc_message(call.frames, render_write(name, offset, piece, is_last));
    offset += piece.size();
  } while (offset < blob.data.size());
  return call;
}

RemoteAnswer ReapiCas::answer_of_write(const ReapiBlob& blob, const GrpcReply& reply) const {
  const std::string method = std::string(k_byte_stream) + "Write";
  if (!reply.is_ok()) return answer_of(method, reply.code, reply.why, true);
  const auto taken = reply.messages.size() == 1 ? parse_write(reply.messages.front()) : std::nullopt;
  if (taken && *taken == static_cast<int64_t>(blob.data.size())) return {State::done};
  if (taken && blob.is_packed && *taken == k_there_already) return {State::done};
  return nonsense(method, "the server has not taken the whole file");
}

// Those that the server was not there for are written again.
void ReapiCas::finish_streams(Blobs blobs, std::vector<GrpcReply> replies, steady_clock::time_point end,
                              BlobAnswers& answers) const {
  Digests unsure;
  for (int tries = 1; !blobs.empty(); ++tries) {
    Blobs again;
    for (size_t i = 0; i < blobs.size(); ++i) {
      answers.answer(blobs[i].digest.hash, answer_of_write(blobs[i], replies[i]));
      if (replies[i].code == GrpcCode::unavailable) again.push_back(blobs[i]);
      if (replies[i].is_ok() && replies[i].messages.empty()) unsure.push_back(blobs[i].digest);
    }
    if (tries == k_most_writes || steady_clock::now() >= end) break;
    blobs = std::move(again);
    std::vector<GrpcCall> calls;
    for (const ReapiBlob& blob : blobs)
      calls.push_back(write_call(blob, end));
    replies = channel_.call(calls);
  }
  settle(unsure, answers);
}

// libcurl may lose the message of a server that answers before it has read everything, though not its status.
void ReapiCas::settle(const Digests& unsure, BlobAnswers& answers) const {
  find(unsure, answers);
  for (const ReapiDigest& digest : unsure)
    if (answers.state(digest.hash) == State::absent)
      answers.answer(digest.hash, nonsense("ByteStream/Write", "the server has not taken the whole file"));
}

// libcurl knows the scheme by the name of HTTP.
Result<std::unique_ptr<ReapiCas>> open_reapi_cas(HttpOptions options, const FileReader& files) {
  const std::string scheme = options.url.substr(0, options.url.find(':'));
  options.url = (scheme == "reapis" ? "https" : "http") + options.url.substr(scheme.size());
  options.is_http2 = true;
  const milliseconds deadline = options.deadline;
  DSBUILD_TRY(client, open_http_client(std::move(options), files));
  const std::string base = client->base();
  const size_t slash = base.find('/', base.find("://") + 3);
  std::string instance = slash == std::string::npos ? "" : base.substr(slash + 1);
  std::string origin = scheme + client->origin().substr(client->origin().find(':'));
  return std::make_unique<ReapiCas>(std::move(client), deadline, std::move(origin), std::move(instance));
}

}  // namespace dsbuild
