// A shared cache on an HTTP server, by GET, PUT and HEAD of <url>/ac/<digest> and <url>/cas/<digest>:
// bazel-remote, nginx with dav, and any server that Bazel can use as an HTTP cache.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/remote_store.h"

namespace dsbuild {

// Sends nothing yet. Errors: those of open_http_client().
Result<std::unique_ptr<RemoteStore>> open_http_store(HttpOptions options, const FileReader& files);

// The answer that a response to a request for a file stands for. `origin`: the server's name, for messages.
RemoteAnswer answer_of_response(HttpVerb verb, HttpResponse response, const std::string& origin);

}  // namespace dsbuild
