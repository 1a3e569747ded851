// Messages of the Remote Execution API v2 (build/bazel/remote/execution/v2/remote_execution.proto) and of
// google/bytestream/bytestream.proto, as far as a cache needs them (those of Execution are in
// remote_execution/execution_messages.h). Requests are rendered, answers parsed;
// nullopt: it is no such message. Each request says that its digests are of SHA-256.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/grpc.h"
#include "remote/reapi_fields.h"

namespace dsbuild {

// No batch asks about as many blobs. The answers after these are passed over.
inline constexpr size_t k_most_blob_answers = 32'768;

// The digest of these bytes.
ReapiDigest digest_of(std::string_view bytes);

struct ReapiCapabilities {
  bool has_sha256 = false;
  bool takes_results = false;                                       // update_enabled
  uint64_t most_batch_bytes = 0;                                    // 0: there is no limit but that of gRPC
  bool takes_packed_batches = false, takes_packed_streams = false;  // by zstd
  bool executes = false;                                            // exec_enabled, by SHA-256
  bool takes_output_paths = true;  // high_api_version is 2.1 or newer, or not said
  bool operator==(const ReapiCapabilities&) const = default;
};
std::string render_get_capabilities(const std::string& instance);
std::optional<ReapiCapabilities> parse_capabilities(std::string_view message);

std::string render_find_missing(const std::string& instance, const std::vector<ReapiDigest>& digests);
std::optional<std::vector<ReapiDigest>> parse_missing(std::string_view message);

struct ReapiBlob {
  ReapiDigest digest;
  std::string_view data;   // outlives it
  bool is_packed = false;  // `data` is, by zstd; the digest is of the unpacked bytes
};
// What an answer says of one blob.
struct ReapiBlobAnswer {
  ReapiDigest digest;
  GrpcCode code = GrpcCode::ok;
  std::string words = {};  // of the server, where the code is not `ok`
  std::string data = {};   // of a blob that was read
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

// ByteStream. `offset`: of `data` in the blob; only the first request of a stream names the resource.
std::string render_read(const std::string& resource);
std::optional<std::string> parse_read(std::string_view message);
std::string render_write(const std::string& resource, uint64_t offset, std::string_view data, bool is_last);
// How many bytes the server has taken.
std::optional<int64_t> parse_write(std::string_view message);

using PlatformProperties = std::map<std::string, std::string>;

struct ReapiCommand {
  std::vector<std::string> arguments = {};              // a first word with '/' is from the working directory
  std::map<std::string, std::string> environment = {};  // all of it
  std::string working_directory = {};                   // below the root of the inputs
  std::vector<std::string> output_paths = {};           // from the working directory
  PlatformProperties platform = {};
  bool names_output_files = false;  // as servers before version 2.1 read them, too
};
std::string render_command(const ReapiCommand& command);
// `salt`: what the result depends on as well as on the command and the inputs; "": nothing.
std::string render_action(const ReapiDigest& command, const ReapiDigest& input_root,
                          const PlatformProperties& platform, const std::string& salt);

std::string render_request_metadata(const std::string& version, const std::string& invocation);

}  // namespace dsbuild
