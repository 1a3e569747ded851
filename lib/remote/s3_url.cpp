#include "remote/s3_url.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_s3_scheme = "s3://";
constexpr const char* k_default_region = "us-east-1";

// The URL itself is not shown: it may hold a secret, by mistake.
tl::unexpected<Error> bad_place(const std::string& what) {
  return fail(
      Exit::usage, "bad_remote_url", "URL of the remote cache", what,
      "Write s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION, of which BUCKET alone is needed; "
      "credentials come from the AWS variables or files.");
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' ? whole_number<unsigned char>(text.substr(i + 1, 2), 16) : std::nullopt;
    const bool is_byte = byte && i + 2 < text.size();
    plain += is_byte ? static_cast<char>(*byte) : text[i];
    if (is_byte) i += 2;
  }
  return plain;
}

// As of S3, and of servers like it that allow '_' and capitals.
bool is_bucket(const std::string& name) {
  const bool is_plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
  return is_plain && name.size() >= 3 && name.size() <= 255 && name.find("..") == std::string::npos &&
         !name.starts_with('.') && !name.ends_with('.');
}

// libcurl and servers resolve "." and ".." in a path, so that what is signed would not be what is asked for.
bool has_dot_segment(const std::string& prefix) {
  return std::ranges::any_of(split(prefix, "/"),
                             [](const std::string& part) { return part == "." || part == ".."; });
}

std::string without_slashes(std::string text) {
  while (text.starts_with('/'))
    text.erase(0, 1);
  while (text.ends_with('/'))
    text.pop_back();
  return text;
}

bool is_endpoint(const std::string& text) {
  const bool is_http = text.starts_with("http://") || text.starts_with("https://");
  const std::string host = is_http ? text.substr(text.find("://") + 3) : "";
  return !host.empty() && host.find_first_of("/?#@ ") == std::string::npos;
}

Result<void> read_setting(const std::string& name, const std::string& value, S3Place& place,
                          std::string& style) {
  if (name == "endpoint")
    place.endpoint = value;
  else if (name == "region")
    place.region = value;
  else if (name == "style" && (value == "path" || value == "virtual"))
    style = value;
  else if (name == "style")
    return bad_place("style is path or virtual");
  else
    return bad_place("'" + visible(name) + "' is none of endpoint, region and style");
  return {};
}

// The port that goes without saying is not in the header Host.
std::string without_default_port(const std::string& scheme, std::string host) {
  const std::string port = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(port)) host.resize(host.size() - port.size());
  return to_lower(host);
}

}  // namespace

Result<S3Place> parse_s3_url(const std::string& url, const VariableLookup& variable) {
  const std::string rest = url.substr(std::min(k_s3_scheme.size(), url.size()));
  const size_t question = std::min(rest.find('?'), rest.size());
  const std::string path = rest.substr(0, question);
  const size_t slash = std::min(path.find('/'), path.size());
  S3Place place;
  place.bucket = path.substr(0, slash);
  place.prefix = without_slashes(decoded(path.substr(slash)));
  if (!is_bucket(place.bucket)) return bad_place("it names no bucket");
  if (has_dot_segment(place.prefix)) return bad_place("its prefix has a part '.' or '..'");
  std::string style;
  for (const std::string& word : split(rest.substr(std::min(question + 1, rest.size())), "&")) {
    const size_t equals = std::min(word.find('='), word.size());
    DSBUILD_CHECK(read_setting(word.substr(0, equals),
                               decoded(std::string_view(word).substr(std::min(equals + 1, word.size()))),
                               place, style));
  }
  const auto take_first = [&](std::string& value, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (value.empty()) value = variable(name);
  };
  take_first(place.endpoint, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  take_first(place.region, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (place.region.empty()) place.region = k_default_region;
  while (place.endpoint.ends_with('/'))
    place.endpoint.pop_back();
  if (!place.endpoint.empty() && !is_endpoint(place.endpoint))
    return bad_place("its endpoint is not https://HOST, https://HOST:PORT or http://…");
  if (!is_region(place.region)) return bad_place("its region is none");
  const bool has_dot = place.bucket.find('.') != std::string::npos;
  place.is_path_style = style.empty() ? !place.endpoint.empty() || has_dot : style == "path";
  return place;
}

std::string aws_host(const std::string& service, const std::string& region) {
  return service + "." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
}

bool is_region(const std::string& text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

S3Server server_of(const S3Place& place) {
  const bool is_aws = place.endpoint.empty();
  const std::string base = is_aws ? "https://" + aws_host("s3", place.region) : place.endpoint;
  const size_t colon = base.find("://");
  S3Server server{base.substr(0, colon), "", place.is_path_style ? "/" + place.bucket : ""};
  server.host = without_default_port(server.scheme, base.substr(colon + 3));
  if (!place.is_path_style) server.host = to_lower(place.bucket) + "." + server.host;
  return server;
}

}  // namespace dsbuild
