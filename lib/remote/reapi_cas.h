// A server of the Remote Execution API v2 (github.com/bazelbuild/remote-apis): what it can do, and its
// ContentAddressableStorage. What serves its ActionCache and its Execution stands on it.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "remote/http_client.h"
#include "remote/reapi_messages.h"
#include "remote/remote_store.h"

namespace dsbuild {

// What GetCapabilities says, within our own bounds.
struct ReapiServer {
  RemoteAnswer::State state = RemoteAnswer::State::done;  // refused, failed: it is not used
  std::string why = {};
  std::string takes_no_results = {};  // why; "": it takes results into its ActionCache
  std::string executes_nothing = {};  // why; "": it executes
  bool takes_output_paths = true;     // Command.output_paths, which came with version 2.1
  bool takes_packed_batches = false;  // BatchUpdateBlobs, by zstd
  bool takes_packed_streams = false;  // ByteStream's compressed-blobs/zstd
  uint64_t most_batch_bytes = 0;

  bool batches(uint64_t bytes) const;
};

// Answers to questions about blobs, matched by their digests: a server may answer in any order, leave some
// out, and answer what nobody asked.
class BlobAnswers {
 public:
  // Whether it is the first time.
  bool ask(const std::string& hash) { return ++answers_[hash].questions == 1; }
  void answer(const std::string& hash, RemoteAnswer answer);
  template <class Blobs>
  void answer_all(const Blobs& blobs, const RemoteAnswer& all) {
    for (const auto& blob : blobs)
      answer(hash_of(blob), all);
  }
  RemoteAnswer::State state(const std::string& hash) const { return answers_.at(hash).answer.state; }
  // Once for each time that it was asked about.
  RemoteAnswer take(const std::string& hash);

 private:
  struct Entry {
    RemoteAnswer answer;
    size_t questions = 0;
  };
  static const std::string& hash_of(const ReapiDigest& digest) { return digest.hash; }
  static const std::string& hash_of(const ReapiBlob& blob) { return blob.digest.hash; }

  std::map<std::string, Entry> answers_;
};

// All from any thread.
class ReapiCas {
 public:
  using Blobs = std::vector<ReapiBlob>;
  using Digests = std::vector<ReapiDigest>;
  // Whether blobs are packed by zstd on their way, where the server takes that.
  enum class Packing { none, zstd };

  ReapiCas(std::unique_ptr<HttpClient> client, std::chrono::milliseconds deadline, std::string origin,
           std::string instance);

  // Asked once, at the first call.
  const ReapiServer& server();
  // Each asks about blobs that `answers` was asked about. done or absent; or found; or taken.
  void find(const Digests& digests, BlobAnswers& answers) const;
  void get(const Digests& digests, BlobAnswers& answers);
  // Those that the server lacks.
  void put(const Blobs& blobs, BlobAnswers& answers, Packing packing = Packing::none);
  // Those of which it is known that the server lacks them (find): it is not asked again.
  void send(const Blobs& blobs, BlobAnswers& answers, Packing packing = Packing::none);

  // For calls of the server's other services.
  const GrpcChannel& channel() const { return channel_; }
  const std::string& instance() const { return instance_; }
  const std::string& origin() const { return origin_; }  // "reapi://host:port"
  void cancel() { channel_.cancel(); }
  // Of files, as they travelled.
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_received() const { return bytes_received_; }
  static GrpcCall unary(const std::string& method, const std::string& message);
  // What a code means, with a line for the user.
  RemoteAnswer answer_of(const std::string& method, GrpcCode code, const std::string& why, bool is_put) const;
  RemoteAnswer nonsense(const std::string& method, const std::string& what) const;

 private:
  ReapiServer ask_server() const;
  std::string resource(const std::string& before, const ReapiDigest& digest, bool is_packed) const;
  void take_batch(const Digests& batch, const GrpcReply& reply, BlobAnswers& answers) const;
  RemoteAnswer take_stream(const ReapiDigest& digest, const GrpcReply& reply) const;
  void take_update(const Blobs& batch, const GrpcReply& reply, BlobAnswers& answers) const;
  void finish_streams(Blobs blobs, std::vector<GrpcReply> replies, std::chrono::steady_clock::time_point end,
                      BlobAnswers& answers) const;
  void settle(const Digests& unsure, BlobAnswers& answers) const;
  GrpcCall write_call(const ReapiBlob& blob, std::chrono::steady_clock::time_point end) const;
  RemoteAnswer answer_of_write(const ReapiBlob& blob, const GrpcReply& reply) const;

  const std::chrono::milliseconds deadline_;
  const std::string origin_, instance_;
  GrpcChannel channel_;
  std::atomic<uint64_t> bytes_sent_ = 0;
  mutable std::atomic<uint64_t> bytes_received_ = 0;

  std::mutex mutex_;  // of the server
  std::optional<ReapiServer> server_;
};

// `options.url`: "reapi://host[:port]/instance" without TLS, "reapis://…" with it; the instance may be empty.
// Sends nothing yet. Errors: those of open_http_client().
Result<std::unique_ptr<ReapiCas>> open_reapi_cas(HttpOptions options, const FileReader& files);

}  // namespace dsbuild
