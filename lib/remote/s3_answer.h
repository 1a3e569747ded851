// Translates the answers of S3. Source: Amazon S3 API Reference, "Error Responses". Private to this stage.
#pragma once

#include <string>

#include "remote/http_client.h"
#include "remote/remote_store.h"
#include "remote/s3_session.h"

namespace dsbuild {

// The answer to a request for an object. `name`: the store's, for messages.
RemoteAnswer answer_of_s3(HttpVerb verb, HttpResponse response, const std::string& name);

// Whether a requested object may be absent: S3 gives the same answer (403) if the caller may not read it, and
// if it is missing and the caller may not list the bucket.
bool may_be_absent(const HttpResponse& response);

// The answer if a configured source of keys gave none; `why` is the source's.
RemoteAnswer answer_of_credentials(const AwsCredentials& credentials);

}  // namespace dsbuild
