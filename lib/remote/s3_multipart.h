// Large objects go up in parts (Amazon S3 User Guide, "Uploading and copying objects using multipart
// upload"). Private to this stage.
#pragma once

#include <string>
#include <string_view>

#include "remote/remote_store.h"
#include "remote/s3_session.h"

namespace dsbuild {

inline constexpr size_t k_multipart_bytes = size_t{64} << 20;  // larger ones do
inline constexpr size_t k_part_bytes = size_t{16} << 20;  // S3 takes no less than 5 MiB, but for the last

// The object is there whole or not at all. Where a part fails, the upload is aborted, so that nobody pays for
// its parts.
RemoteAnswer put_in_parts(S3Session& session, const std::string& key, std::string_view bytes,
                          const AwsCredentials& credentials);

}  // namespace dsbuild
