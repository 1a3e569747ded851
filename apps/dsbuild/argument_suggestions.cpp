#include "argument_suggestions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"

namespace dsbuild {
namespace {

// ninja, make, cmake, cargo, pip, docker and compilers have them.
constexpr std::pair<const char*, const char*> k_foreign[] = {
    {"--dry-run", "plan"},
    {"-n", "plan"},
    {"--just-print", "plan"},
    {"-o", "--out"},
    {"--output", "--out"},
    {"--out-dir", "--out"},
    {"--parallel", "--jobs"},
    {"-B", "--build-dir"},
    {"-C", "--build-dir"},
    {"--op", "--ops"},
    {"--cuda", "--cuda-home"},
    {"--gpu-architecture", "--arch"},
    {"--no-cache", "--cache-size=0"},
    {"init", "new"},
    {"create", "new"},
    {"compile", "build"},
    {"make", "build"},
    {"check", "verify"},
    {"show", "inspect"},
    {"doctor", "report"},
    {"why", "explain"},
};

// How many words one occurrence takes: 0 where it is none.
size_t words_of(const std::string& word, const Args& names) {
  for (const std::string& name : names) {
    if (word == name) return 2;
    const bool is_short = name.size() == 2;
    if (word.starts_with(name) && (is_short || word[name.size()] == '=')) return 1;
  }
  return 0;
}

bool is_list(const std::string& option) {
  return option == "--arch" || option == "--ops";
}

}  // namespace

bool holds(const Args& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Args with_mended_lists(const Args& words, const Args& commands) {
  Args mended;
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
    Args items;
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
  return is_mended ? mended : Args{};
}

Args with_word(const Args& words, const std::string& wrong, const std::string& right) {
  Args mended = words;
  const size_t equals = wrong.find('=');
  for (std::string& word : mended)
    if (word == wrong) word = right + (equals == wrong.npos ? "" : wrong.substr(equals));
  return mended;
}

Args with_last_value(const Args& words, const Args& names_of_option) {
  Args mended;
  std::optional<std::pair<size_t, size_t>> last;  // where in `mended`, and how many words
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t count = std::min(words_of(words[i], names_of_option), words.size() - i);
    if (count == 0) {
      mended.push_back(words[i]);
      continue;
    }
    if (last) {
      const auto begin = mended.begin() + static_cast<std::ptrdiff_t>(last->first);
      mended.erase(begin, begin + static_cast<std::ptrdiff_t>(last->second));
    }
    last = {mended.size(), count};
    for (size_t taken = 0; taken < count; ++taken)
      mended.push_back(words[i + taken]);
    i += count - 1;
  }
  return mended;
}

std::string word_for(const std::string& foreign) {
  for (const auto& [theirs, ours] : k_foreign)
    if (foreign == theirs) return ours;
  return "";
}

}  // namespace dsbuild
