// Messages of the Remote Execution API v2 (build/bazel/remote/execution/v2/remote_execution.proto) and of
// google/bytestream/bytestream.proto, as far as a cache needs them (those of Execution are in
// remote_execution/execution_messages.h). Renders requests, parses answers; nullopt: it is no such message.
// Each request says that its digests are by SHA-256.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/grpc.h"
#include "remote/reapi_fields.h"

namespace dsbuild {

// More than any batch asks about; further answers are ignored.
inline constexpr size_t k_most_blob_answers = 32'768;

ReapiDigest digest_of(std::string_view bytes);

struct ReapiCapabilities {
  bool has_sha256 = false;
  bool takes_results = false;                                       // update_enabled
  uint64_t most_batch_bytes = 0;                                    // 0: only gRPC's own limit counts
  bool takes_packed_batches = false, takes_packed_streams = false;  // by zstd
  bool executes = false;                                            // exec_enabled, by SHA-256
  bool takes_output_paths = true;  // high_api_version is 2.1 or newer, or absent
  bool operator==(const ReapiCapabilities&) const = default;
};
std::string render_get_capabilities(const std::string& instance);
std::optional<ReapiCapabilities> parse_capabilities(std::string_view message);

std::string render_find_missing(const std::string& instance, const std::vector<ReapiDigest>& digests);
std::optional<std::vector<ReapiDigest>> parse_missing(std::string_view message);

struct ReapiBlob {
  ReapiDigest digest;
  std::string_view data;   // must outlive this
  bool is_packed = false;  // `data` is compressed by zstd; the digest is that of the original bytes
};
// The part of an answer that is about one blob.
struct ReapiBlobAnswer {
  ReapiDigest digest;
  GrpcCode code = GrpcCode::ok;
  std::string words = {};  // the server's message, if the code is not `ok`
  std::string data = {};   // the bytes of a blob that was read
  bool operator==(const ReapiBlobAnswer&) const = default;
};
std::string render_batch_update(const std::string& instance, const std::vector<ReapiBlob>& blobs);
std::optional<std::vector<ReapiBlobAnswer>> parse_batch_update(std::string_view message);
std::string render_batch_read(const std::string& instance, const std::vector<ReapiDigest>& digests);
std::optional<std::vector<ReapiBlobAnswer>> parse_batch_read(std::string_view message);

// The answer to both is an ActionResult.
std::string render_get_result(const std::string& instance, const ReapiDigest& action);
std::string render_update_result(const std::string& instance, const ReapiDigest& action,
                                 std::string_view result);

// ByteStream. `offset`: where `data` begins in the blob. Only the first request of a stream names the
// resource.
std::string render_read(const std::string& resource);
std::optional<std::string> parse_read(std::string_view message);
std::string render_write(const std::string& resource, uint64_t offset, std::string_view data, bool is_last);
// How many bytes the server has accepted.
std::optional<int64_t> parse_write(std::string_view message);

using PlatformProperties = std::map<std::string, std::string>;

struct ReapiCommand {
  std::vector<std::string> arguments = {};  // a first word with '/' is relative to the working directory
  std::map<std::string, std::string> environment = {};  // the complete environment
  std::string working_directory = {};                   // relative to the root of the inputs
  std::vector<std::string> output_paths = {};           // relative to the working directory
  PlatformProperties platform = {};
  bool names_output_files = false;  // also in the field that servers before version 2.1 read
};
std::string render_command(const ReapiCommand& command);
// `salt`: a further text that the result depends on, besides command and inputs; "": none.
std::string render_action(const ReapiDigest& command, const ReapiDigest& input_root,
                          const PlatformProperties& platform, const std::string& salt);

std::string render_request_metadata(const std::string& version, const std::string& invocation);

}  // namespace dsbuild
