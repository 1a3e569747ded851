#include "remote/action_result.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "remote/reapi_fields.h"

namespace dsbuild {
namespace {

using Reader = protozero::pbf_reader;
using Writer = protozero::pbf_writer;
using Tag = protozero::pbf_tag_type;

// Numbers of fields, of remote_execution.proto.
constexpr Tag k_output_files = 2, k_path = 1, k_digest = 2, k_contents = 5, k_node_properties = 7;
constexpr Tag k_properties = 1, k_name = 1, k_value = 2;
constexpr Tag k_execution_metadata = 9, k_worker = 1;
constexpr const char *k_sha256 = "sha256", *k_size = "size", *k_bases = "bases", *k_ed25519 = "ed25519",
                     *k_milliseconds = "milliseconds", *k_uploaded = "uploaded";
constexpr uint64_t k_most_milliseconds = 86'400'000;  // a day: what an entry claims goes into sums
constexpr std::string_view k_base_folder = "base/";

bool is_good_name(std::string_view name) {
  return !name.empty() && name.find("..") == std::string_view::npos &&
         std::ranges::none_of(name, [](char c) { return c == '\n' || c == '\0'; });
}

void read_property(Reader message, RemoteOutput& output) {
  std::string name, value;
  while (message.next()) {
    if (is_bytes(message, k_name))
      name = message.get_string();
    else if (is_bytes(message, k_value))
      value = message.get_string();
    else
      message.skip();
  }
  if (name == k_sha256) output.file.digest = value;
  if (name == k_size) output.file.bytes = whole_number<uint64_t>(value).value_or(0);
  if (name == k_bases) output.bases = split(value, " ");
  if (name == k_milliseconds)
    output.file.milliseconds = std::min(whole_number<uint64_t>(value).value_or(0), k_most_milliseconds);
  if (name == k_ed25519) output.signature = value;
  if (name == k_uploaded) output.uploaded = whole_number<int64_t>(value).value_or(0);
}

std::optional<RemoteOutput> read_output(Reader message) {
  RemoteOutput output;
  while (message.next()) {
    if (is_bytes(message, k_path)) {
      output.file.name = message.get_string();
    } else if (is_bytes(message, k_digest)) {
      ReapiDigest digest = read_digest(message.get_message());
      output.digest = std::move(digest.hash);
      output.bytes = digest.bytes;
    } else if (is_bytes(message, k_node_properties)) {
      Reader properties = message.get_message();
      while (properties.next(k_properties))
        read_property(properties.get_message(), output);
    } else if (is_bytes(message, k_contents)) {
      output.contents = message.get_string();
    } else {
      message.skip();
    }
  }
  const bool is_whole = is_sha256(output.digest) && is_sha256(output.file.digest) &&
                        std::ranges::all_of(output.bases, is_sha256);
  return is_whole && is_good_name(output.file.name) ? std::optional(std::move(output)) : std::nullopt;
}

std::string worker_of(const std::string& name) {
  return "dsbuild " + name;
}

bool is_of_worker(Reader metadata, const std::string& worker) {
  while (metadata.next()) {
    if (is_bytes(metadata, k_worker)) return metadata.get_string() == worker;
    metadata.skip();
  }
  return false;
}

}  // namespace

std::string base_name(const std::string& digest) {
  return std::string(k_base_folder) + digest;
}

bool is_base(const RemoteOutput& output) {
  return output.file.name.starts_with(k_base_folder);
}

std::string record_name(const RemoteOutput& output) {
  return output.file.name.substr(0, output.file.name.find('/'));
}

std::string render_entry(const std::string& name, const RemoteEntry& entry) {
  std::string message;
  Writer writer(message);
  for (const RemoteOutput& output : entry) {
    Writer file(writer, k_output_files);
    file.add_string(k_path, output.file.name);
    write_digest(file, k_digest, {output.digest, output.bytes});
    if (!output.contents.empty()) file.add_bytes(k_contents, output.contents);
    Writer properties(file, k_node_properties);
    if (!output.bases.empty()) write_pair(properties, k_properties, k_bases, join(output.bases, " "));
    if (!output.signature.empty()) write_pair(properties, k_properties, k_ed25519, output.signature);
    if (output.file.milliseconds > 0)
      write_pair(properties, k_properties, k_milliseconds, std::to_string(output.file.milliseconds));
    write_pair(properties, k_properties, k_sha256, output.file.digest);
    write_pair(properties, k_properties, k_size, std::to_string(output.file.bytes));
    if (output.uploaded > 0)
      write_pair(properties, k_properties, k_uploaded, std::to_string(output.uploaded));
  }
  Writer metadata(writer, k_execution_metadata);
  metadata.add_string(k_worker, worker_of(name));
  return message;
}

std::optional<RemoteEntry> parse_entry(const std::string& name, std::string_view message) {
  RemoteEntry entry;
  bool is_of_name = false;
  try {
    Reader reader(message.data(), message.size());
    while (reader.next()) {
      if (is_bytes(reader, k_execution_metadata)) {
        is_of_name = is_of_worker(reader.get_message(), worker_of(name));
      } else if (is_bytes(reader, k_output_files)) {
        auto output = read_output(reader.get_message());
        if (!output) return std::nullopt;
        entry.push_back(std::move(*output));
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return is_of_name ? std::optional(std::move(entry)) : std::nullopt;
}

}  // namespace dsbuild
