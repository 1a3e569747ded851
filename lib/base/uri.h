// Percent-encoding (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace dsbuild {

// For the path of a URL, or a name or a value of its query: all but letters, digits and "-._~" becomes %XX.
// keep_slashes: '/' stays.
std::string uri_encode(std::string_view text, bool keep_slashes);

}  // namespace dsbuild
