// Parses the URL of a cache in S3:
// s3://BUCKET/PREFIX?endpoint=https://host:port&region=REGION&style=path|virtual.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace dsbuild {

// The value of an environment variable; "": not set.
using VariableLookup = std::function<std::string(const std::string& name)>;

// Runs a program and returns its stdout. Error: it did not end with 0.
using ProgramRunner = std::function<Result<std::string>(const std::vector<std::string>& argv)>;

struct S3Place {
  std::string bucket;
  std::string prefix;    // decoded, without '/' at its ends; "": the bucket itself
  std::string endpoint;  // "https://host:port" of a compatible server; "": that of AWS for the region
  std::string region;
  bool is_path_style = false;  // the bucket is in the path and not in the host's name
  bool operator==(const S3Place&) const = default;
};

// The URL's own parameters override AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION and AWS_DEFAULT_REGION.
// By default, the style is `path` if there is an endpoint, or if the bucket's name has a dot, which no
// certificate of AWS covers. Errors: exit 2 `bad_remote_url`.
Result<S3Place> parse_s3_url(const std::string& url, const VariableLookup& variable);

// "s3.eu-central-1.amazonaws.com", or "sts.…" for that service.
std::string aws_host(const std::string& service, const std::string& region);
// Whether the text may be a region's name. It may come from a server, and becomes part of a host name.
bool is_region(const std::string& text);

// The destination of requests: "https", "bucket.s3.eu-central-1.amazonaws.com" and, for path style,
// "/bucket".
struct S3Server {
  std::string scheme, host, root;
};
S3Server server_of(const S3Place& place);

}  // namespace dsbuild
