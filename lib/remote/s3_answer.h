// What S3's answers mean. Source: Amazon S3 API Reference, "Error Responses". Private to this stage.
#pragma once

#include <string>

#include "remote/http_client.h"
#include "remote/remote_store.h"
#include "remote/s3_session.h"

namespace dsbuild {

// Of an object. `name`: of the store.
RemoteAnswer answer_of_s3(HttpVerb verb, HttpResponse response, const std::string& name);

// Of one that was asked for. S3 answers so for a missing object to who may not list the bucket, and for one
// that may not be read.
bool may_be_absent(const HttpResponse& response);

// Where there are no keys that could be used, and the place that has them says why.
RemoteAnswer answer_of_credentials(const AwsCredentials& credentials);

}  // namespace dsbuild
