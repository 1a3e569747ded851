// A client of a server of the Remote Execution API v2 (github.com/bazelbuild/remote-apis): the server's
// capabilities, and its ContentAddressableStorage. The clients of its ActionCache and its Execution use this
// one.
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

// The answer of GetCapabilities, within dsbuild's own limits.
struct ReapiServer {
  RemoteAnswer::State state = RemoteAnswer::State::done;  // refused, failed: the server is not used
  std::string why = {};
  std::string takes_no_results = {};  // why not; "": its ActionCache takes results
  std::string executes_nothing = {};  // why not; "": it executes
  bool takes_output_paths = true;     // Command.output_paths, which came with version 2.1
  bool takes_packed_batches = false;  // BatchUpdateBlobs, by zstd
  bool takes_packed_streams = false;  // ByteStream's compressed-blobs/zstd
  uint64_t most_batch_bytes = 0;

  bool batches(uint64_t bytes) const;
};

// Matches answers about blobs to requests by digest. A server may answer in any order, leave some out, and
// add some that nobody requested.
class BlobAnswers {
 public:
  // Whether this blob is asked for the first time.
  bool ask(const std::string& hash) { return ++answers_[hash].questions == 1; }
  void answer(const std::string& hash, RemoteAnswer answer);
  template <class Blobs>
  void answer_all(const Blobs& blobs, const RemoteAnswer& all) {
    for (const auto& blob : blobs)
      answer(hash_of(blob), all);
  }
  RemoteAnswer::State state(const std::string& hash) const { return answers_.at(hash).answer.state; }
  // May be called as often as the blob was asked for.
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

// All functions may be called from any thread.
class ReapiCas {
 public:
  using Blobs = std::vector<ReapiBlob>;
  using Digests = std::vector<ReapiDigest>;
  // Whether blobs are sent compressed by zstd, if the server accepts that.
  enum class Packing { none, zstd };

  ReapiCas(std::unique_ptr<HttpClient> client, std::chrono::milliseconds deadline, std::string origin,
           std::string instance);

  // Asks the server at the first call only.
  const ReapiServer& server();
  // Each of these asks the server about blobs for which answers.ask() was called. The state `done` means: the
  // server has the blob; its bytes were read; the server took it.
  void find(const Digests& digests, BlobAnswers& answers) const;
  void get(const Digests& digests, BlobAnswers& answers);
  // Sends the blobs that the server lacks.
  void put(const Blobs& blobs, BlobAnswers& answers, Packing packing = Packing::none);
  // Sends all blobs, without asking again: find() has said that the server lacks them.
  void send(const Blobs& blobs, BlobAnswers& answers, Packing packing = Packing::none);

  // For calls of the server's other services.
  const GrpcChannel& channel() const { return channel_; }
  const std::string& instance() const { return instance_; }
  const std::string& origin() const { return origin_; }  // "reapi://host:port"
  void cancel() { channel_.cancel(); }
  // Bytes of files as they were sent and received.
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_received() const { return bytes_received_; }
  static GrpcCall unary(const std::string& method, const std::string& message);
  // The answer for a code, with a line for the user.
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

  std::mutex mutex_;  // guards server_
  std::optional<ReapiServer> server_;
};

// `options.url`: "reapi://host[:port]/instance" without TLS, "reapis://…" with it; the instance may be empty.
// Sends nothing yet. Errors: those of open_http_client().
Result<std::unique_ptr<ReapiCas>> open_reapi_cas(HttpOptions options, const FileReader& files);

}  // namespace dsbuild
