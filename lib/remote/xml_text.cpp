#include "remote/xml_text.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace dsbuild {
namespace {

// "&amp;" is the last that is resolved and the first that is written.
constexpr std::array<std::pair<const char*, const char*>, 5> k_entities = {
    {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}}};

}  // namespace

std::string xml_text(std::string_view document, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">", close = "</" + std::string(tag) + ">";
  const size_t begin = document.find(open);
  if (begin == std::string_view::npos) return "";
  const size_t end = document.find(close, begin);
  if (end == std::string_view::npos) return "";
  std::string text(document.substr(begin + open.size(), end - begin - open.size()));
  for (const auto& [entity, letter] : k_entities)
    text = replace_all(std::move(text), entity, letter);
  return trim(text);
}

std::string xml_escape(std::string_view text) {
  std::string escaped = replace_all(std::string(text), "&", "&amp;");
  for (const auto& [entity, letter] : k_entities)
    if (std::string_view(letter) != "&") escaped = replace_all(std::move(escaped), letter, entity);
  return escaped;
}

}  // namespace dsbuild
