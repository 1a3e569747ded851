// Reads single texts from the XML of S3 and STS, by their tags. Private to this stage.
#pragma once

#include <string>
#include <string_view>

namespace dsbuild {

// The text of the first element of that name, with entities resolved; "" if there is none, or it is not
// closed.
std::string xml_text(std::string_view document, std::string_view tag);
std::string xml_escape(std::string_view text);

}  // namespace dsbuild
