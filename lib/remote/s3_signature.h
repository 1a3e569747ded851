// Requests to services of AWS, and to servers that speak like them, are signed by version 4 of the signature.
// Source: Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header". The payload's
// SHA-256 is always part of it.
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
  std::string token;   // of a session; "": none
  bool operator==(const AwsKeys&) const = default;
};

// The parts of a request that are signed, not encoded.
struct AwsRequest {
  std::string verb;  // "GET"
  std::string host;  // "host", or "host:port" where the port is not that of the scheme
  std::string path;  // "/bucket/a key", not encoded
  std::vector<std::pair<std::string, std::string>> query = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // sent too; names in any case
  std::string payload_digest;                                     // SHA-256 in hex digits
};

struct AwsScope {
  std::string region;   // "eu-central-1"
  std::string service;  // "s3"
};

// "https://host/path?query" as it is signed.
std::string aws_url(std::string_view scheme, const AwsRequest& request);

// The request's own headers and those that sign it, "Name: value" each. seconds: of the time of day since the
// epoch, which the server compares with its own.
std::vector<std::string> sign_request(const AwsRequest& request, const AwsKeys& keys, const AwsScope& scope,
                                      int64_t seconds);

}  // namespace dsbuild
