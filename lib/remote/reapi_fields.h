// Fields that several messages of the Remote Execution API have. Private to this stage.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>

namespace dsbuild {

// build.bazel.remote.execution.v2.Digest, by SHA-256.
struct ReapiDigest {
  std::string hash;    // 64 hex digits
  uint64_t bytes = 0;  // of what it is of
  bool operator==(const ReapiDigest&) const = default;
};

inline bool is_bytes(const protozero::pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}
inline bool is_number(const protozero::pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == tag_and_type(tag, protozero::pbf_wire_type::varint);
}

// Throws protozero::exception, as all reading does.
ReapiDigest read_digest(protozero::pbf_reader message);
void write_digest(protozero::pbf_writer& message, protozero::pbf_tag_type tag, const ReapiDigest& digest);

}  // namespace dsbuild
