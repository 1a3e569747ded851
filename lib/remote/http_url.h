// Splits a URL into its parts, as libcurl does. Private to this stage.
#pragma once

#include <optional>
#include <string>

#include "remote/curl.h"

namespace dsbuild {

struct HttpUrl {
  std::string scheme;  // "http" or "https"
  std::string host;
  std::string port;
  std::string user, password;  // decoded; secrets
  std::string text;            // the URL without user and password
  bool is_plain = true;        // has no query and no fragment
  bool has_same_origin(const HttpUrl& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
  std::string origin() const { return scheme + "://" + host + ":" + port; }
};

// nullopt: not an HTTP URL.
std::optional<HttpUrl> parse_http_url(const Curl& curl, const std::string& text);

}  // namespace dsbuild
