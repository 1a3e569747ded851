#include "remote/reapi_messages.h"

#include "base/digest.h"

namespace dsbuild {
namespace {

using PbfReader = protozero::pbf_reader;
using PbfWriter = protozero::pbf_writer;
using PbfTag = protozero::pbf_tag_type;

constexpr PbfTag k_instance_name = 1;  // of every request
constexpr int k_zstd_compressor = 1;   // Compressor.Value

// Platform {properties = 1}, sorted by names.
void write_platform(PbfWriter& message, PbfTag tag, const PlatformProperties& properties) {
  if (properties.empty()) return;
  PbfWriter platform(message, tag);
  for (const auto& [name, value] : properties)
    write_pair(platform, 1, name, value);
}

// Reads a whole message; nullopt where it is none.
template <class Value, class Read>
std::optional<Value> parse_message(std::string_view message, const Read& read) {
  Value value{};
  try {
    PbfReader reader(message.data(), message.size());
    while (reader.next())
      if (!read(reader, value)) reader.skip();
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return value;
}

void write_instance(PbfWriter& request, const std::string& instance) {
  if (!instance.empty()) request.add_string(k_instance_name, instance);
}

// A request for digests; `function`: the tag of its digest function.
std::string render_digests(const std::string& instance, const std::vector<ReapiDigest>& digests,
                           PbfTag function) {
  std::string message;
  PbfWriter request(message);
  write_instance(request, instance);
  for (const ReapiDigest& digest : digests)
    write_digest(request, 2, digest);
  request.add_enum(function, k_sha256_function);
  return message;
}

// An enum repeated: packed, or one by one.
bool has_value(PbfReader& values, int32_t value) {
  bool found = false;
  if (values.wire_type() == protozero::pbf_wire_type::varint) return values.get_enum() == value;
  for (const int32_t one : values.get_packed_enum())
    found = found || one == value;
  return found;
}

bool is_at_enums(const PbfReader& message, PbfTag tag) {
  return is_bytes(message, tag) || is_number(message, tag);
}

bool is_update_enabled(PbfReader capabilities) {
  bool enabled = false;
  while (capabilities.next())
    if (is_number(capabilities, 1))
      enabled = capabilities.get_bool();
    else
      capabilities.skip();
  return enabled;
}

void read_cache_capabilities(PbfReader message, ReapiCapabilities& capabilities) {
  while (message.next()) {
    if (is_at_enums(message, 1))
      capabilities.has_sha256 = has_value(message, k_sha256_function) || capabilities.has_sha256;
    else if (is_bytes(message, 2))
      capabilities.takes_results = is_update_enabled(message.get_message());
    else if (is_number(message, 4))
      capabilities.most_batch_bytes = static_cast<uint64_t>(std::max<int64_t>(message.get_int64(), 0));
    else if (is_at_enums(message, 6))
      capabilities.takes_packed_streams =
          has_value(message, k_zstd_compressor) || capabilities.takes_packed_streams;
    else if (is_at_enums(message, 7))
      capabilities.takes_packed_batches =
          has_value(message, k_zstd_compressor) || capabilities.takes_packed_batches;
    else
      message.skip();
  }
}

// ExecutionCapabilities {digest_function = 1, exec_enabled = 2, digest_functions = 5}. An old server says one
// function alone.
bool executes_actions(PbfReader message) {
  bool is_enabled = false, has_sha256 = false;
  while (message.next()) {
    if (is_number(message, 2))
      is_enabled = message.get_bool();
    else if (is_number(message, 1) || is_at_enums(message, 5))
      has_sha256 = has_value(message, k_sha256_function) || has_sha256;
    else
      message.skip();
  }
  return is_enabled && has_sha256;
}

// SemVer {major = 1, minor = 2}.
bool is_2_1_or_newer(PbfReader message) {
  int32_t major = 0, minor = 0;
  while (message.next()) {
    if (is_number(message, 1))
      major = message.get_int32();
    else if (is_number(message, 2))
      minor = message.get_int32();
    else
      message.skip();
  }
  return major > 2 || (major == 2 && minor >= 1);
}

// google.rpc.Status {code = 1, message = 2}.
void read_status(PbfReader message, ReapiBlobAnswer& answer) {
  while (message.next()) {
    if (is_number(message, 1))
      answer.code = grpc_code(message.get_int32());
    else if (is_bytes(message, 2))
      answer.words = message.get_string();
    else
      message.skip();
  }
}

ReapiBlobAnswer read_blob_answer(PbfReader message, PbfTag data, PbfTag status) {
  ReapiBlobAnswer answer;
  while (message.next()) {
    if (is_bytes(message, 1))
      answer.digest = read_digest(message.get_message());
    else if (is_bytes(message, status))
      read_status(message.get_message(), answer);
    else if (data != 0 && is_bytes(message, data))
      answer.data = message.get_string();
    else
      message.skip();
  }
  return answer;
}

// `data`: the tag of the bytes; 0: there are none.
std::optional<std::vector<ReapiBlobAnswer>> parse_blob_answers(std::string_view message, PbfTag data,
                                                               PbfTag status) {
  return parse_message<std::vector<ReapiBlobAnswer>>(message, [&](PbfReader& reader, auto& answers) {
    if (!is_bytes(reader, 1) || answers.size() == k_most_blob_answers) return false;
    answers.push_back(read_blob_answer(reader.get_message(), data, status));
    return true;
  });
}

}  // namespace

ReapiDigest digest_of(std::string_view bytes) {
  return {sha256(bytes), bytes.size()};
}

ReapiDigest read_digest(PbfReader message) {
  ReapiDigest digest;
  while (message.next()) {
    if (is_bytes(message, 1))
      digest.hash = message.get_string();
    else if (is_number(message, 2))
      digest.bytes = static_cast<uint64_t>(message.get_int64());
    else
      message.skip();
  }
  return digest;
}

void write_digest(PbfWriter& message, PbfTag tag, const ReapiDigest& digest) {
  PbfWriter writer(message, tag);
  writer.add_string(1, digest.hash);
  if (digest.bytes != 0) writer.add_int64(2, static_cast<int64_t>(digest.bytes));
}

void write_pair(PbfWriter& message, PbfTag tag, const std::string& name, const std::string& value) {
  PbfWriter pair(message, tag);
  pair.add_string(1, name);
  pair.add_string(2, value);
}

std::string render_get_capabilities(const std::string& instance) {
  std::string message;
  PbfWriter request(message);
  write_instance(request, instance);
  return message;
}

std::optional<ReapiCapabilities> parse_capabilities(std::string_view message) {
  return parse_message<ReapiCapabilities>(message, [](PbfReader& reader, ReapiCapabilities& capabilities) {
    if (is_bytes(reader, 1))
      read_cache_capabilities(reader.get_message(), capabilities);
    else if (is_bytes(reader, 2))
      capabilities.executes = executes_actions(reader.get_message());
    else if (is_bytes(reader, 5))
      capabilities.takes_output_paths = is_2_1_or_newer(reader.get_message());
    else
      return false;
    return true;
  });
}

std::string render_find_missing(const std::string& instance, const std::vector<ReapiDigest>& digests) {
  return render_digests(instance, digests, 3);
}

std::optional<std::vector<ReapiDigest>> parse_missing(std::string_view message) {
  return parse_message<std::vector<ReapiDigest>>(message, [](PbfReader& reader, auto& digests) {
    if (!is_bytes(reader, 2) || digests.size() == k_most_blob_answers) return false;
    digests.push_back(read_digest(reader.get_message()));
    return true;
  });
}

std::string render_batch_update(const std::string& instance, const std::vector<ReapiBlob>& blobs) {
  std::string message;
  PbfWriter request(message);
  write_instance(request, instance);
  for (const ReapiBlob& blob : blobs) {
    PbfWriter one(request, 2);
    write_digest(one, 1, blob.digest);
    one.add_bytes(2, blob.data.data(), blob.data.size());
    if (blob.is_packed) one.add_enum(3, k_zstd_compressor);
  }
  request.add_enum(5, k_sha256_function);
  return message;
}

std::optional<std::vector<ReapiBlobAnswer>> parse_batch_update(std::string_view message) {
  return parse_blob_answers(message, 0, 2);
}

std::string render_batch_read(const std::string& instance, const std::vector<ReapiDigest>& digests) {
  return render_digests(instance, digests, 4);
}

std::optional<std::vector<ReapiBlobAnswer>> parse_batch_read(std::string_view message) {
  return parse_blob_answers(message, 2, 3);
}

std::string render_get_result(const std::string& instance, const ReapiDigest& action) {
  std::string message;
  PbfWriter request(message);
  write_instance(request, instance);
  write_digest(request, 2, action);
  request.add_enum(6, k_sha256_function);
  return message;
}

std::string render_update_result(const std::string& instance, const ReapiDigest& action,
                                 std::string_view result) {
  std::string message;
  PbfWriter request(message);
  write_instance(request, instance);
  write_digest(request, 2, action);
  request.add_message(3, result.data(), result.size());
  request.add_enum(5, k_sha256_function);
  return message;
}

std::string render_read(const std::string& resource) {
  std::string message;
  PbfWriter(message).add_string(1, resource);
  return message;
}

std::optional<std::string> parse_read(std::string_view message) {
  return parse_message<std::string>(message, [](PbfReader& reader, std::string& data) {
    if (!is_bytes(reader, 10)) return false;
    data = reader.get_string();
    return true;
  });
}

std::string render_write(const std::string& resource, uint64_t offset, std::string_view data, bool is_last) {
  std::string message;
  PbfWriter request(message);
  if (offset == 0) request.add_string(1, resource);
  if (offset != 0) request.add_int64(2, static_cast<int64_t>(offset));
  if (is_last) request.add_bool(3, true);
  request.add_bytes(10, data.data(), data.size());
  return message;
}

std::optional<int64_t> parse_write(std::string_view message) {
  return parse_message<int64_t>(message, [](PbfReader& reader, int64_t& taken) {
    if (!is_number(reader, 1)) return false;
    taken = reader.get_int64();
    return true;
  });
}

std::string render_command(const ReapiCommand& command) {
  std::string message;
  PbfWriter writer(message);
  std::vector<std::string> outputs = command.output_paths;
  std::ranges::sort(outputs);
  for (const std::string& argument : command.arguments)
    writer.add_string(1, argument);
  for (const auto& [name, value] : command.environment)
    write_pair(writer, 2, name, value);
  if (command.names_output_files)
    for (const std::string& path : outputs)
      writer.add_string(3, path);
  write_platform(writer, 5, command.platform);
  if (!command.working_directory.empty()) writer.add_string(6, command.working_directory);
  for (const std::string& path : outputs)
    writer.add_string(7, path);
  return message;
}

std::string render_action(const ReapiDigest& command, const ReapiDigest& input_root,
                          const PlatformProperties& platform, const std::string& salt) {
  std::string message;
  PbfWriter action(message);
  write_digest(action, 1, command);
  write_digest(action, 2, input_root);
  if (!salt.empty()) action.add_bytes(9, salt);
  write_platform(action, 10, platform);
  return message;
}

std::string render_request_metadata(const std::string& version, const std::string& invocation) {
  std::string message;
  PbfWriter metadata(message);
  {
    PbfWriter tool(metadata, 1);
    tool.add_string(1, "dsbuild");
    tool.add_string(2, version);
  }
  metadata.add_string(3, invocation);
  return message;
}

}  // namespace dsbuild
