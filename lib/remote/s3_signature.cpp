#include "remote/s3_signature.h"

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "base/hmac.h"
#include "base/text.h"
#include "base/uri.h"
#include "remote/utc_time.h"

namespace dsbuild {
namespace {

constexpr const char* k_algorithm = "AWS4-HMAC-SHA256";

std::string query_text(const AwsRequest& request) {
  std::vector<std::pair<std::string, std::string>> encoded;
  for (const auto& [name, value] : request.query)
    encoded.emplace_back(uri_encode(name, false), uri_encode(value, false));
  std::ranges::sort(encoded);
  std::vector<std::string> parts;
  for (const auto& [name, value] : encoded)
    parts.push_back(name + "=" + value);
  return join(parts, "&");
}

// Blanks at the ends go, and several in a row are one.
std::string header_value(const std::string& text) {
  return join(split(text, " \t"), " ");
}

}  // namespace

std::string aws_url(std::string_view scheme, const AwsRequest& request) {
  const std::string query = query_text(request);
  return std::string(scheme) + "://" + request.host + uri_encode(request.path, true) +
         (query.empty() ? "" : "?" + query);
}

std::vector<std::string> sign_request(const AwsRequest& request, const AwsKeys& keys, const AwsScope& scope,
                                      int64_t seconds) {
  const std::string time = basic_time(seconds), day = time.substr(0, 8);
  std::vector<std::pair<std::string, std::string>> sent = request.headers;
  sent.insert(sent.end(), {{"x-amz-content-sha256", request.payload_digest}, {"x-amz-date", time}});
  if (!keys.token.empty()) sent.emplace_back("x-amz-security-token", keys.token);

  std::map<std::string, std::string> signed_headers = {{"host", request.host}};
  for (const auto& [name, value] : sent)
    signed_headers[to_lower(name)] = header_value(value);
  std::vector<std::string> names;
  std::string lines;
  for (const auto& [name, value] : signed_headers) {
    names.push_back(name);
    lines.append(name).append(":").append(value).append("\n");
  }
  const std::string all_names = join(names, ";");
  const std::string canonical = join({request.verb, uri_encode(request.path, true), query_text(request),
                                      lines, all_names, request.payload_digest},
                                     "\n");
  const std::string credential = join({day, scope.region, scope.service, "aws4_request"}, "/");
  const std::string text = join({k_algorithm, time, credential, sha256(canonical)}, "\n");
  std::string key = "AWS4" + keys.secret;
  for (const std::string_view part : {std::string_view(day), std::string_view(scope.region),
                                      std::string_view(scope.service), std::string_view("aws4_request")})
    key = hmac_sha256(key, part);

  std::vector<std::string> headers;
  for (const auto& [name, value] : sent)
    headers.push_back(name + ": " + value);
  headers.push_back("Authorization: " + std::string(k_algorithm) + " Credential=" + keys.id + "/" +
                    credential + ", SignedHeaders=" + all_names +
                    ", Signature=" + hex_digits(hmac_sha256(key, text)));
  return headers;
}

}  // namespace dsbuild
