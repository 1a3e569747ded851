#include "remote/reapi_store.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <random>

#include "base/version.h"
#include "remote/grpc.h"
#include "remote/reapi_messages.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// gRPC's servers take messages of 4 MiB by default.
constexpr uint64_t k_most_batch_bytes = uint64_t{3} << 20;
constexpr uint64_t k_head_bytes = 128;  // of one blob in a message: its digest, lengths and tags
constexpr size_t k_chunk_bytes = size_t{1} << 20;
constexpr int k_most_writes = 2;

constexpr const char* k_cas = "build.bazel.remote.execution.v2.ContentAddressableStorage/";
constexpr const char* k_ac = "build.bazel.remote.execution.v2.ActionCache/";
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

struct ReapiServer {
  State state = State::done;  // refused, failed: it is not used
  std::string why = {};
  std::string read_only = {};  // why it takes nothing; "": it does
  uint64_t most_batch_bytes = k_most_batch_bytes;

  bool batches(uint64_t bytes) const { return bytes + k_head_bytes <= most_batch_bytes; }
};

// Answers to questions about blobs, matched by their digests: a server may answer in any order, leave some
// out, and answer what nobody asked.
class BlobAnswers {
 public:
  // Whether it is the first time.
  bool ask(const std::string& hash) { return ++answers_[hash].questions == 1; }
  void answer(const std::string& hash, RemoteAnswer answer) {
    const auto found = answers_.find(hash);
    if (found != answers_.end()) found->second.answer = std::move(answer);
  }
  template <class Blobs>
  void answer_all(const Blobs& blobs, const RemoteAnswer& all) {
    for (const auto& blob : blobs)
      answer(hash_of(blob), all);
  }
  State state(const std::string& hash) const { return answers_.at(hash).answer.state; }
  // Once for each time that it was asked about.
  RemoteAnswer take(const std::string& hash) {
    Entry& entry = answers_.at(hash);
    return --entry.questions == 0 ? std::move(entry.answer) : entry.answer;
  }

 private:
  struct Entry {
    RemoteAnswer answer;
    size_t questions = 0;
  };
  static const std::string& hash_of(const ReapiDigest& digest) { return digest.hash; }
  static const std::string& hash_of(const ReapiBlob& blob) { return blob.digest.hash; }

  std::map<std::string, Entry> answers_;
};

class ReapiStore : public RemoteStore {
 public:
  ReapiStore(std::unique_ptr<HttpClient> client, milliseconds deadline, std::string origin,
             std::string instance)
      : deadline_(deadline),
        origin_(std::move(origin)),
        instance_(std::move(instance)),
        channel_(std::move(client), deadline,
                 {grpc_binary_header("build.bazel.remote.execution.v2.requestmetadata",
                                     render_request_metadata(k_version, make_uuid()))}) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override { return ask(names, true); }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override { return ask(names, false); }
  // Servers look for each file of an entry, and may take out what is in one.
  bool takes_contents() const override { return false; }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override;
  void cancel() override { channel_.cancel(); }
  std::optional<uint64_t> requests() const override { return channel_.calls(); }

 private:
  using Blobs = std::vector<ReapiBlob>;
  using Digests = std::vector<ReapiDigest>;

  std::vector<RemoteAnswer> ask(const std::vector<RemoteName>& names, bool wants_bytes);
  const ReapiServer& server();
  ReapiServer ask_server() const;

  RemoteAnswer answer_of(const std::string& method, GrpcCode code, const std::string& why, bool is_put) const;
  RemoteAnswer nonsense(const std::string& method, const std::string& what) const;
  std::string resource(const std::string& before, const ReapiDigest& digest) const;
  static GrpcCall unary(const std::string& method, const std::string& message);

  void get_results(const std::vector<RemoteName>& names, BlobAnswers& answers) const;
  void get_blobs(const Digests& digests, BlobAnswers& answers);
  void take_batch(const Digests& batch, const GrpcReply& reply, BlobAnswers& answers) const;
  RemoteAnswer take_stream(const ReapiDigest& digest, const GrpcReply& reply) const;
  void find_blobs(const Digests& digests, BlobAnswers& answers) const;

  void put_blobs(const Blobs& blobs, BlobAnswers& answers);
  void put_batches(const Blobs& blobs, BlobAnswers& answers);
  void put_streams(const Blobs& blobs, BlobAnswers& answers) const;
  GrpcCall write_call(const ReapiBlob& blob, milliseconds deadline) const;
  RemoteAnswer answer_of_write(const ReapiBlob& blob, const GrpcReply& reply) const;
  void put_results(const std::vector<const RemoteFile*>& files, BlobAnswers& answers);

  const milliseconds deadline_;
  const std::string origin_;  // "reapi://host:port"
  const std::string instance_;
  GrpcChannel channel_;

  std::mutex mutex_;  // of the server
  std::optional<ReapiServer> server_;
};

RemoteAnswer ReapiStore::answer_of(const std::string& method, GrpcCode code, const std::string& why,
                                   bool is_put) const {
  RemoteAnswer answer{state_of_code(code, is_put)};
  if (answer.state == State::refused || answer.state == State::failed)
    answer.why = origin_ + ": " + method.substr(method.rfind('/') + 1) + ": " + why;
  return answer;
}

RemoteAnswer ReapiStore::nonsense(const std::string& method, const std::string& what) const {
  return answer_of(method, GrpcCode::internal, what, false);
}

GrpcCall ReapiStore::unary(const std::string& method, const std::string& message) {
  GrpcCall call{.method = method};
  add_grpc_message(call.frames, message);
  return call;
}

// "instance/blobs/<hash>/<bytes>".
std::string ReapiStore::resource(const std::string& before, const ReapiDigest& digest) const {
  const std::string prefix = instance_.empty() ? "" : instance_ + "/";
  return prefix + before + "blobs/" + digest.hash + "/" + std::to_string(digest.bytes);
}

const ReapiServer& ReapiStore::server() {
  const std::lock_guard lock(mutex_);
  if (!server_) server_ = ask_server();
  return *server_;
}

ReapiServer ReapiStore::ask_server() const {
  const std::string method = "build.bazel.remote.execution.v2.Capabilities/GetCapabilities";
  const GrpcReply reply = channel_.call({unary(method, render_get_capabilities(instance_))}).front();
  if (!reply.is_ok()) {
    RemoteAnswer answer = answer_of(method, reply.code, reply.why, false);
    if (answer.state == State::absent) answer = nonsense(method, reply.why);
    return {.state = answer.state, .why = std::move(answer.why)};
  }
  const auto known = reply.messages.size() == 1 ? parse_capabilities(reply.messages.front()) : std::nullopt;
  if (!known)
    return {.state = State::failed, .why = nonsense(method, "the answer is no ServerCapabilities").why};
  if (!known->has_sha256)
    return {.state = State::refused, .why = origin_ + ": the server has no cache of SHA-256 digests"};
  ReapiServer server;
  if (known->most_batch_bytes != 0)
    server.most_batch_bytes = std::min(known->most_batch_bytes, k_most_batch_bytes);
  if (!known->takes_results)
    server.read_only = origin_ + ": the server takes no results (update_enabled is false)";
  return server;
}

// Of both kinds, in the order of the names.
std::vector<RemoteAnswer> ReapiStore::ask(const std::vector<RemoteName>& names, bool wants_bytes) {
  if (names.empty()) return {};
  const ReapiServer& known = server();
  if (known.state != State::done) return {names.size(), {known.state, {}, known.why}};
  BlobAnswers results, blobs;
  std::vector<RemoteName> actions;
  Digests digests;
  for (const RemoteName& name : names) {
    if (name.kind == RemoteKind::ac && results.ask(name.digest)) actions.push_back(name);
    if (name.kind == RemoteKind::cas && blobs.ask(name.digest)) digests.push_back({name.digest, name.bytes});
  }
  for (const ReapiDigest& digest : digests)
    if (digest.bytes == 0)
      blobs.answer(digest.hash, {State::failed, {}, origin_ + ": the size of a file is not known"});
  std::erase_if(digests, [](const ReapiDigest& digest) { return digest.bytes == 0; });
  get_results(actions, results);
  if (wants_bytes)
    get_blobs(digests, blobs);
  else
    find_blobs(digests, blobs);
  std::vector<RemoteAnswer> answers;
  for (const RemoteName& name : names) {
    answers.push_back((name.kind == RemoteKind::ac ? results : blobs).take(name.digest));
    if (!wants_bytes) answers.back().bytes.clear();
  }
  return answers;
}

void ReapiStore::get_results(const std::vector<RemoteName>& names, BlobAnswers& answers) const {
  const std::string method = std::string(k_ac) + "GetActionResult";
  const ReapiDigest command = digest_of(render_command());
  std::vector<GrpcCall> calls;
  for (const RemoteName& name : names)
    calls.push_back(
        unary(method, render_get_result(instance_, digest_of(render_action(command, name.digest)))));
  auto replies = channel_.call(calls);
  for (size_t i = 0; i < names.size(); ++i) {
    GrpcReply& reply = replies[i];
    RemoteAnswer answer = answer_of(method, reply.code, reply.why, false);
    if (reply.is_ok() && reply.messages.size() != 1)
      answer = nonsense(method, "the answer is no ActionResult");
    if (answer.state == State::done) answer.bytes = std::move(reply.messages.front());
    answers.answer(names[i].digest, std::move(answer));
  }
}

// Small ones together, and each of the others by a stream.
void ReapiStore::get_blobs(const Digests& digests, BlobAnswers& answers) {
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
    calls.push_back(unary(std::string(k_byte_stream) + "Read", render_read(resource("", digest))));
  const auto replies = channel_.call(calls);
  for (size_t i = 0; i < batches.size(); ++i)
    take_batch(batches[i], replies[i], answers);
  for (size_t i = 0; i < large.size(); ++i)
    answers.answer(large[i].hash, take_stream(large[i], replies[batches.size() + i]));
}

void ReapiStore::take_batch(const Digests& batch, const GrpcReply& reply, BlobAnswers& answers) const {
  const std::string method = std::string(k_cas) + "BatchReadBlobs";
  answers.answer_all(batch, nonsense(method, "a file has no answer"));
  if (!reply.is_ok()) return answers.answer_all(batch, answer_of(method, reply.code, reply.why, false));
  auto found = reply.messages.size() == 1 ? parse_batch_read(reply.messages.front()) : std::nullopt;
  if (!found) return answers.answer_all(batch, nonsense(method, "the answer is no BatchReadBlobsResponse"));
  for (ReapiBlobAnswer& blob : *found) {
    if (std::ranges::find(batch, blob.digest) == batch.end()) continue;
    RemoteAnswer answer = answer_of(method, blob.code, describe_grpc_status(blob.code, blob.words), false);
    if (blob.code == GrpcCode::ok && blob.data.size() != blob.digest.bytes)
      answer = nonsense(method, "a file has not the size of its digest");
    if (answer.state == State::done) answer.bytes = std::move(blob.data);
    answers.answer(blob.digest.hash, std::move(answer));
  }
}

RemoteAnswer ReapiStore::take_stream(const ReapiDigest& digest, const GrpcReply& reply) const {
  const std::string method = std::string(k_byte_stream) + "Read";
  RemoteAnswer answer = answer_of(method, reply.code, reply.why, false);
  if (!reply.is_ok()) return answer;
  for (const std::string& message : reply.messages) {
    const auto piece = parse_read(message);
    if (!piece) return nonsense(method, "the answer is no ReadResponse");
    if (answer.bytes.size() <= digest.bytes) answer.bytes += *piece;
  }
  return answer.bytes.size() == digest.bytes ? answer
                                             : nonsense(method, "a file has not the size of its digest");
}

// Done or absent.
void ReapiStore::find_blobs(const Digests& digests, BlobAnswers& answers) const {
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
      answers.answer_all(batches[i], nonsense(method, "the answer is no FindMissingBlobsResponse"));
    else
      answers.answer_all(batches[i], {State::done});
    if (missing) answers.answer_all(*missing, {State::absent});
  }
}

std::vector<RemoteAnswer> ReapiStore::put(const std::vector<RemoteFile>& files) {
  if (files.empty()) return {};
  const ReapiServer& known = server();
  if (known.state != State::done) return {files.size(), {known.state, {}, known.why}};
  if (!known.read_only.empty()) return {files.size(), {State::refused, {}, known.read_only}};
  BlobAnswers results, blobs;
  Blobs wanted;
  std::vector<const RemoteFile*> entries;
  for (const RemoteFile& file : files) {
    if (file.name.kind == RemoteKind::ac && results.ask(file.name.digest)) entries.push_back(&file);
    if (file.name.kind == RemoteKind::cas && blobs.ask(file.name.digest))
      wanted.push_back({{file.name.digest, file.bytes.size()}, file.bytes});
  }
  put_blobs(wanted, blobs);
  put_results(entries, results);
  std::vector<RemoteAnswer> answers;
  for (const RemoteFile& file : files)
    answers.push_back((file.name.kind == RemoteKind::ac ? results : blobs).take(file.name.digest));
  return answers;
}

// Those that the server lacks: small ones together, and each of the others by a stream.
void ReapiStore::put_blobs(const Blobs& blobs, BlobAnswers& answers) {
  Digests digests;
  for (const ReapiBlob& blob : blobs)
    digests.push_back(blob.digest);
  find_blobs(digests, answers);
  Blobs small, large;
  for (const ReapiBlob& blob : blobs)
    if (answers.state(blob.digest.hash) == State::absent)
      (server().batches(blob.data.size()) ? small : large).push_back(blob);
  put_batches(small, answers);
  put_streams(large, answers);
}

void ReapiStore::put_batches(const Blobs& blobs, BlobAnswers& answers) {
  const std::string method = std::string(k_cas) + "BatchUpdateBlobs";
  const auto batches =
      batches_of(blobs, server().most_batch_bytes, [](const ReapiBlob& blob) { return blob.digest.bytes; });
  std::vector<GrpcCall> calls;
  for (const Blobs& batch : batches)
    calls.push_back(unary(method, render_batch_update(instance_, batch)));
  const auto replies = channel_.call(calls);
  for (size_t i = 0; i < batches.size(); ++i) {
    const GrpcReply& reply = replies[i];
    const auto taken = reply.is_ok() && reply.messages.size() == 1
                           ? parse_batch_update(reply.messages.front())
                           : std::nullopt;
    if (!reply.is_ok())
      answers.answer_all(batches[i], answer_of(method, reply.code, reply.why, true));
    else
      answers.answer_all(batches[i], nonsense(method, "a file has no answer"));
    for (const ReapiBlobAnswer& blob : taken.value_or(std::vector<ReapiBlobAnswer>{}))
      if (std::ranges::find(batches[i], blob.digest, &ReapiBlob::digest) != batches[i].end())
        answers.answer(blob.digest.hash,
                       answer_of(method, blob.code, describe_grpc_status(blob.code, blob.words), true));
  }
}

// The name of an upload is its own: a server may keep what it got of one that broke off, so a second try has
// a new name.
GrpcCall ReapiStore::write_call(const ReapiBlob& blob, milliseconds deadline) const {
  const std::string name = resource("uploads/" + make_uuid() + "/", blob.digest);
  GrpcCall call{.method = std::string(k_byte_stream) + "Write", .is_repeatable = false, .deadline = deadline};
  size_t offset = 0;
  do {
    const std::string_view piece = blob.data.substr(offset, k_chunk_bytes);
    const bool is_last = offset + piece.size() == blob.data.size();
    add_grpc_message(call.frames, render_write(name, offset, piece, is_last));
    offset += piece.size();
  } while (offset < blob.data.size());
  return call;
}

RemoteAnswer ReapiStore::answer_of_write(const ReapiBlob& blob, const GrpcReply& reply) const {
  const std::string method = std::string(k_byte_stream) + "Write";
  if (!reply.is_ok()) return answer_of(method, reply.code, reply.why, true);
  const auto taken = reply.messages.size() == 1 ? parse_write(reply.messages.front()) : std::nullopt;
  if (taken && *taken == static_cast<int64_t>(blob.data.size())) return {State::done};
  return nonsense(method, "the server has not taken the whole file");
}

// libcurl may lose the message of a server that answers before it has read everything, though not its status.
void ReapiStore::put_streams(const Blobs& blobs, BlobAnswers& answers) const {
  Digests unsure;
  const auto end = steady_clock::now() + deadline_;
  Blobs due = blobs;
  for (int tries = 0; tries < k_most_writes && !due.empty(); ++tries) {
    const auto rest = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
    if (rest <= milliseconds(0)) break;
    std::vector<GrpcCall> calls;
    for (const ReapiBlob& blob : due)
      calls.push_back(write_call(blob, rest));
    const auto replies = channel_.call(calls);
    Blobs again;
    for (size_t i = 0; i < due.size(); ++i) {
      answers.answer(due[i].digest.hash, answer_of_write(due[i], replies[i]));
      if (replies[i].code == GrpcCode::unavailable) again.push_back(due[i]);
      if (replies[i].is_ok() && replies[i].messages.empty()) unsure.push_back(due[i].digest);
    }
    due = std::move(again);
  }
  find_blobs(unsure, answers);
  for (const ReapiDigest& digest : unsure)
    if (answers.state(digest.hash) == State::absent)
      answers.answer(digest.hash, nonsense("ByteStream/Write", "the server has not taken the whole file"));
}

// A server may want the Action and its Command before the result of it.
void ReapiStore::put_results(const std::vector<const RemoteFile*>& files, BlobAnswers& answers) {
  if (files.empty()) return;
  const std::string method = std::string(k_ac) + "UpdateActionResult";
  const std::string command = render_command();
  std::vector<std::string> messages = {"", command};
  for (const RemoteFile* file : files)
    messages.push_back(render_action(digest_of(command), file->name.digest));
  Blobs blobs;
  BlobAnswers uploads;
  for (const std::string& message : messages) {
    blobs.push_back({digest_of(message), message});
    uploads.ask(blobs.back().digest.hash);
  }
  put_blobs(blobs, uploads);
  std::vector<GrpcCall> calls;
  std::vector<const RemoteFile*> sent;
  for (size_t i = 0; i < files.size(); ++i) {
    const ReapiDigest& action = blobs[i + 2].digest;
    RemoteAnswer uploaded = uploads.take(action.hash);
    if (uploaded.state != State::done) {
      answers.answer(files[i]->name.digest, std::move(uploaded));
      continue;
    }
    calls.push_back(unary(method, render_update_result(instance_, action, files[i]->bytes)));
    sent.push_back(files[i]);
  }
  const auto replies = channel_.call(calls);
  for (size_t i = 0; i < sent.size(); ++i)
    answers.answer(sent[i]->name.digest, answer_of(method, replies[i].code, replies[i].why, true));
}

}  // namespace

// libcurl knows the scheme by the name of HTTP.
Result<std::unique_ptr<RemoteStore>> open_reapi_store(HttpOptions options, const FileReader& files) {
  const std::string scheme = options.url.substr(0, options.url.find(':'));
  options.url = (scheme == "reapis" ? "https" : "http") + options.url.substr(scheme.size());
  options.is_http2 = true;
  const milliseconds deadline = options.deadline;
  DSBUILD_TRY(client, open_http_client(std::move(options), files));
  const std::string base = client->base();
  const size_t slash = base.find('/', base.find("://") + 3);
  std::string instance = slash == std::string::npos ? "" : base.substr(slash + 1);
  std::string origin = scheme + client->origin().substr(client->origin().find(':'));
  return std::make_unique<ReapiStore>(std::move(client), deadline, std::move(origin), std::move(instance));
}

}  // namespace dsbuild
