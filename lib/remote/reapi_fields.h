// Reads and writes fields that several messages of the Remote Execution API have. Private to this stage.
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "remote/protobuf.h"

namespace dsbuild {

// build.bazel.remote.execution.v2.Digest, by SHA-256.
struct ReapiDigest {
  std::string hash;    // 64 hex digits
  uint64_t bytes = 0;  // of the hashed blob
  bool operator==(const ReapiDigest&) const = default;
};

inline constexpr int k_sha256_function = 1;  // DigestFunction.Value

// Throws protozero::exception, as all reads do.
ReapiDigest read_digest(protozero::pbf_reader message);
void write_digest(protozero::pbf_writer& message, protozero::pbf_tag_type tag, const ReapiDigest& digest);
// An environment variable or a property: {name = 1, value = 2}.
void write_pair(protozero::pbf_writer& message, protozero::pbf_tag_type tag, const std::string& name,
                const std::string& value);

}  // namespace dsbuild
