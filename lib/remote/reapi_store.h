// A cache by the Remote Execution API v2 (github.com/bazelbuild/remote-apis): its ActionCache and
// ContentAddressableStorage. Blobs are packed by zstd before they come here, so no compressor of the server
// is used. A key is no Action there, and gets one (reapi_messages.h), which goes up before its result.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/remote_store.h"

namespace dsbuild {

// `options.url`: "reapi://host[:port]/instance" without TLS, "reapis://…" with it; the instance may be empty.
// Sends nothing yet. At its first use it asks the server what it can do, once. Errors: those of
// open_http_client().
Result<std::unique_ptr<RemoteStore>> open_reapi_store(HttpOptions options, const FileReader& files);

}  // namespace dsbuild
