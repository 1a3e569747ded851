// The few texts that answers of S3 and STS hold, by their tags. Private to this stage.
#pragma once

#include <string>
#include <string_view>

namespace dsbuild {

// The text of the first element of that name, entities resolved; "" where there is none, or it is not closed.
std::string xml_text(std::string_view document, std::string_view tag);
std::string xml_escape(std::string_view text);

}  // namespace dsbuild
