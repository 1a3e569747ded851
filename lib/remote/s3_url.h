// Where a cache lies in S3: s3://BUCKET/PREFIX?endpoint=https://host:port&region=REGION&style=path|virtual.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace dsbuild {

// The environment's variable of that name; "" where it is not set.
using VariableLookup = std::function<std::string(const std::string& name)>;

// What a program that ends with 0 writes to stdout.
using ProgramRunner = std::function<Result<std::string>(const std::vector<std::string>& argv)>;

struct S3Place {
  std::string bucket;
  std::string prefix;    // decoded, without '/' at its ends; "": the bucket itself
  std::string endpoint;  // "https://host:port" of a server that speaks like S3; "": AWS's of the region
  std::string region;
  bool is_path_style = false;  // the bucket stands in the path and not in the host's name
  bool operator==(const S3Place&) const = default;
};

// The URL's own parts count more than AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION and
// AWS_DEFAULT_REGION. The style is path where an endpoint is given, or the bucket's name has a dot, which no
// certificate of AWS covers. Errors: exit 2 `bad_remote_url`.
Result<S3Place> parse_s3_url(const std::string& url, const VariableLookup& variable);

// "s3.eu-central-1.amazonaws.com", or of another service "sts.…".
std::string aws_host(const std::string& service, const std::string& region);
// A region's name may come from a server and becomes part of a host's name.
bool is_region(const std::string& text);

// Where requests for the place go: "https", "bucket.s3.eu-central-1.amazonaws.com" and, for path style,
// "/bucket".
struct S3Server {
  std::string scheme, host, root;
};
S3Server server_of(const S3Place& place);

}  // namespace dsbuild
