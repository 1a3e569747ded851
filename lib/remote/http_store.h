// A cache that a server keeps, by GET, PUT and HEAD of <url>/ac/<digest> and <url>/cas/<digest>:
// bazel-remote, nginx with dav, and what else Bazel and its like can use as an HTTP cache.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/remote_store.h"

namespace dsbuild {

// Sends nothing yet. Errors: those of open_http_client().
Result<std::unique_ptr<RemoteStore>> open_http_store(HttpOptions options, const FileReader& files);

// What a response to a request for a file means.
RemoteAnswer answer_of_response(HttpVerb verb, HttpResponse response, const std::string& origin);

}  // namespace dsbuild
