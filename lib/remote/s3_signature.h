// Signs requests to services of AWS and compatible servers, by AWS Signature Version 4. Source: Amazon S3 API
// Reference, "Authenticating Requests: Using the Authorization Header". The payload's SHA-256 is always part
// of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dsbuild {

struct AwsKeys {
  std::string id;      // access key
  std::string secret;  // secret access key
  std::string token;   // the session's; "": none
  bool operator==(const AwsKeys&) const = default;
};

// The parts of a request that are signed, not encoded.
struct AwsRequest {
  std::string verb;  // "GET"
  std::string host;  // "host", or "host:port" if the port is not the scheme's default
  std::string path;  // "/bucket/a key", not encoded
  std::vector<std::pair<std::string, std::string>> query = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // sent too; names in upper or lower case
  std::string payload_digest;                                     // SHA-256 in hex digits
};

struct AwsScope {
  std::string region;   // "eu-central-1"
  std::string service;  // "s3"
};

// "https://host/path?query", encoded as in the signature.
std::string aws_url(std::string_view scheme, const AwsRequest& request);

// The request's own headers and those of the signature, "Name: value" each. `seconds`: now, since the epoch;
// the server compares it with its clock.
std::vector<std::string> sign_request(const AwsRequest& request, const AwsKeys& keys, const AwsScope& scope,
                                      int64_t seconds);

}  // namespace dsbuild
