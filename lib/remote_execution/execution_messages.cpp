#include "remote_execution/execution_messages.h"

#include <algorithm>

#include "remote/protobuf.h"

namespace dsbuild {
namespace {

using Reader = protozero::pbf_reader;
using Writer = protozero::pbf_writer;
using Tag = protozero::pbf_tag_type;

// Timestamp {seconds = 1, nanos = 2}.
double read_timestamp(Reader message) {
  double seconds = 0;
  while (message.next()) {
    if (is_number(message, 1))
      seconds += static_cast<double>(message.get_int64());
    else if (is_number(message, 2))
      seconds += message.get_int32() / 1e9;
    else
      message.skip();
  }
  return seconds;
}

ReapiTimes read_times(Reader message) {
  ReapiTimes times;
  while (message.next()) {
    if (is_bytes(message, 1))
      times.worker = message.get_string();
    else if (is_bytes(message, 7))
      times.execution_started = read_timestamp(message.get_message());
    else if (is_bytes(message, 8))
      times.execution_ended = read_timestamp(message.get_message());
    else
      message.skip();
  }
  return times;
}

ReapiOutputFile read_output_file(Reader message) {
  ReapiOutputFile file;
  while (message.next()) {
    if (is_bytes(message, 1))
      file.path = message.get_string();
    else if (is_bytes(message, 2))
      file.digest = read_digest(message.get_message());
    else if (is_bytes(message, 5))
      file.contents = message.get_string();
    else
      message.skip();
  }
  return file;
}

ReapiResult read_result(Reader message) {
  ReapiResult result;
  while (message.next()) {
    if (is_bytes(message, 2))
      result.files.push_back(read_output_file(message.get_message()));
    else if (is_number(message, 4))
      result.exit_code = message.get_int32();
    else if (is_bytes(message, 5))
      result.out = message.get_string();
    else if (is_bytes(message, 6))
      result.out_digest = read_digest(message.get_message());
    else if (is_bytes(message, 7))
      result.err = message.get_string();
    else if (is_bytes(message, 8))
      result.err_digest = read_digest(message.get_message());
    else if (is_bytes(message, 9))
      result.times = read_times(message.get_message());
    else
      message.skip();
  }
  return result;
}

ReapiStatus read_status(Reader message) {
  const std::string_view whole(message.data().data(), message.data().size());
  ReapiStatus status;
  while (message.next()) {
    if (is_number(message, 1))
      status.code = grpc_code(message.get_int32());
    else if (is_bytes(message, 2))
      status.words = message.get_string();
    else
      message.skip();
  }
  status.retry_delay = retry_delay_of_status(whole);
  return status;
}

void read_response(Reader message, ReapiOperation& operation) {
  while (message.next()) {
    if (is_bytes(message, 1))
      operation.result = read_result(message.get_message());
    else if (is_number(message, 2))
      operation.was_cached = message.get_bool();
    else if (is_bytes(message, 3))
      operation.status = read_status(message.get_message());
    else
      message.skip();
  }
}

// google.protobuf.Any {type_url = 1, value = 2}; without a value where it is of another type.
Reader read_any(Reader message, std::string_view type) {
  std::string url;
  Reader value;
  while (message.next()) {
    if (is_bytes(message, 1))
      url = message.get_string();
    else if (is_bytes(message, 2))
      value = message.get_message();
    else
      message.skip();
  }
  return url.ends_with(type) ? value : Reader();
}

ReapiStage read_stage(Reader metadata) {
  auto stage = ReapiStage::unknown;
  while (metadata.next()) {
    if (!is_number(metadata, 1)) {
      metadata.skip();
      continue;
    }
    const int32_t number = metadata.get_enum();
    if (number >= 0 && number <= static_cast<int32_t>(ReapiStage::completed))
      stage = static_cast<ReapiStage>(number);
  }
  return stage;
}

void read_operation(Reader message, ReapiOperation& operation) {
  while (message.next()) {
    if (is_bytes(message, 1))
      operation.name = message.get_string();
    else if (is_bytes(message, 2))
      operation.stage = read_stage(read_any(message.get_message(), ".ExecuteOperationMetadata"));
    else if (is_number(message, 3))
      operation.is_done = message.get_bool();
    else if (is_bytes(message, 4))
      operation.status = read_status(message.get_message());
    else if (is_bytes(message, 5))
      read_response(read_any(message.get_message(), ".ExecuteResponse"), operation);
    else
      message.skip();
  }
}

std::string render_name(const std::string& name) {
  std::string message;
  Writer(message).add_string(1, name);
  return message;
}

}  // namespace

std::string render_directory(const ReapiDirectory& directory) {
  std::string message;
  Writer writer(message);
  for (const auto& [name, file] : directory.files) {
    Writer node(writer, 1);
    node.add_string(1, name);
    write_digest(node, 2, file.digest);
    if (file.is_executable) node.add_bool(4, true);
  }
  for (const auto& [name, digest] : directory.directories) {
    Writer node(writer, 2);
    node.add_string(1, name);
    write_digest(node, 2, digest);
  }
  return message;
}

std::string render_execute(const std::string& instance, const ReapiDigest& action, CacheLookup lookup) {
  std::string message;
  Writer request(message);
  if (!instance.empty()) request.add_string(1, instance);
  if (lookup == CacheLookup::skipped) request.add_bool(3, true);
  write_digest(request, 6, action);
  request.add_enum(9, k_sha256_function);
  request.add_bool(10, true);  // stdout and stderr in the answer
  request.add_bool(11, true);
  return message;
}

std::string render_wait_execution(const std::string& operation) {
  return render_name(operation);
}

std::string render_cancel_operation(const std::string& operation) {
  return render_name(operation);
}

std::optional<ReapiOperation> parse_operation(std::string_view message) {
  ReapiOperation operation;
  try {
    read_operation(Reader(message.data(), message.size()), operation);
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return operation;
}

}  // namespace dsbuild
