// A shared cache on a server of the Remote Execution API v2 (github.com/bazelbuild/remote-apis): its
// ActionCache and ContentAddressableStorage. The callers have compressed the blobs by zstd, so the server's
// own compression is not used. A key is not the digest of an Action. So the store makes an Action for each
// key (reapi_messages.h), and uploads it before the result.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/remote_store.h"

namespace dsbuild {

// `options.url`: "reapi://host[:port]/instance" without TLS, "reapis://…" with it; the instance may be empty.
// Sends nothing yet. The first call asks the server for its capabilities, once. Errors: those of
// open_http_client().
Result<std::unique_ptr<RemoteStore>> open_reapi_store(HttpOptions options, const FileReader& files);

}  // namespace dsbuild
