// Uploads large objects in parts (Amazon S3 User Guide, "Uploading and copying objects using multipart
// upload"). Private to this stage.
#pragma once

#include <string>
#include <string_view>

#include "remote/remote_store.h"
#include "remote/s3_session.h"

namespace dsbuild {

inline constexpr size_t k_multipart_bytes = size_t{64} << 20;  // larger objects are uploaded in parts
// S3 requires 5 MiB at least, except for the last part.
inline constexpr size_t k_part_bytes = size_t{16} << 20;

// The object appears whole or not at all. If a part fails, the upload is aborted, so that nobody pays for its
// parts.
RemoteAnswer put_in_parts(S3Session& session, const std::string& key, std::string_view bytes,
                          const AwsCredentials& credentials);

}  // namespace dsbuild
