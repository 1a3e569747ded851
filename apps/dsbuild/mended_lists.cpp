#include "mended_lists.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace dsbuild {
namespace {

bool is_list(const std::string& option) {
  return option == "--arch" || option == "--ops";
}

}  // namespace

Words with_mended_lists(const Words& words, const Words& commands) {
  Words mended;
  std::map<std::string, size_t> values;  // of an option, where in `mended`
  bool is_mended = false;
  const auto is_value = [&](size_t at) {
    return at < words.size() && words[at].substr(0, 1) != "-" &&
           std::find(commands.begin(), commands.end(), words[at]) == commands.end();
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string option = words[i].substr(0, equals);
    if (!is_list(option)) {
      mended.push_back(words[i]);
      continue;
    }
    Words items;
    if (equals != std::string::npos) items.push_back(words[i].substr(equals + 1));
    while (is_value(i + 1))
      items.push_back(words[++i]);
    const auto [known, is_first] = values.try_emplace(option, mended.size() + 1);
    is_mended = is_mended || items.size() > 1 || !is_first;
    if (is_first) {
      mended.push_back(option);
      mended.emplace_back();
    }
    std::string& list = mended[known->second];
    list += (list.empty() || items.empty() ? "" : ",") + join(items, ",");
  }
  return is_mended ? mended : Words{};
}

}  // namespace dsbuild
