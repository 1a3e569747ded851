// A shared cache in a bucket of S3 or of a compatible server: objects PREFIX/ac/<digest> and
// PREFIX/cas/<digest>.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/remote_store.h"
#include "remote/s3_url.h"

namespace dsbuild {

struct S3Options {
  std::string url;  // s3_url.h
  // Certificates and times; its URL, authorization and netrc are not used.
  HttpOptions http = {};
  VariableLookup variable = {};  // AWS_…, HOME
  ProgramRunner run = {};        // for a profile's credential_process
  // If no keys are found, put() asks the server nevertheless, and returns its reason to refuse.
  bool puts_always = false;
};

// Sends nothing yet, and looks for keys when they are first needed. Objects of more than 64 MiB are uploaded
// in parts. Errors: exit 2 `bad_remote_url`; those of open_http_client().
Result<std::unique_ptr<RemoteStore>> open_s3_store(S3Options options, const FileReader& files);

}  // namespace dsbuild
