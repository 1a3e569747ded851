#include "remote/http_url.h"

#include <memory>

#include "base/text.h"

namespace dsbuild {
namespace {

using Parts = std::unique_ptr<CURLU, decltype(&::curl_url_cleanup)>;

// "" where the URL has no such part.
std::string part_of(const Curl& curl, const Parts& parts, CURLUPart which, unsigned flags) {
  char* found = nullptr;
  if (curl.url_get(parts.get(), which, &found, flags) != CURLUE_OK || found == nullptr) return "";
  std::string text = found;
  curl.free(found);
  return text;
}

}  // namespace

std::optional<HttpUrl> parse_http_url(const Curl& curl, const std::string& text) {
  const Parts parts(curl.url(), curl.url_cleanup);
  if (!parts || curl.url_set(parts.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return std::nullopt;
  HttpUrl url;
  url.scheme = to_lower(part_of(curl, parts, CURLUPART_SCHEME, 0));
  url.host = to_lower(part_of(curl, parts, CURLUPART_HOST, 0));
  url.port = part_of(curl, parts, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  url.user = part_of(curl, parts, CURLUPART_USER, CURLU_URLDECODE);
  url.password = part_of(curl, parts, CURLUPART_PASSWORD, CURLU_URLDECODE);
  url.is_plain =
      part_of(curl, parts, CURLUPART_QUERY, 0).empty() && part_of(curl, parts, CURLUPART_FRAGMENT, 0).empty();
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  curl.url_set(parts.get(), CURLUPART_USER, nullptr, 0);
  curl.url_set(parts.get(), CURLUPART_PASSWORD, nullptr, 0);
  url.text = part_of(curl, parts, CURLUPART_URL, 0);
  return url.text.empty() ? std::nullopt : std::optional(url);
}

}  // namespace dsbuild
