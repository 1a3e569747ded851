#include "settings/given_options.h"

#include <algorithm>

#include "base/args.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

bool holds(const Args& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

template <class Wanted>
Args given_where(const Settings& settings, Wanted wanted) {
  Args words;
  for (const Option& option : options()) {
    const auto given = option.names.empty() ? settings.given.end() : settings.given.find(option.name());
    if (given == settings.given.end() || !wanted(option.name())) continue;
    words.push_back(option.name());
    if (!option.is_flag()) words.push_back(without_password(given->second));
  }
  return words;
}

}  // namespace

Args given_options(const Settings& settings, const Args& but) {
  return given_where(settings, [&](const std::string& name) {
    return name != "--json" && name != "--color" && !holds(but, name);
  });
}

Args given_among(const Settings& settings, const Args& names) {
  return given_where(settings, [&](const std::string& name) { return holds(names, name); });
}

Args given_places(const Settings& settings) {
  return given_among(settings, {"--build-dir", "--config", "--no-config"});
}

Args given_pack(const Settings& settings) {
  return given_among(settings, {"--pack", "--source", "--cuda-home", "--rocm-home", "--oneapi-home",
                                "--python", "--config", "--no-config"});
}

}  // namespace dsbuild
