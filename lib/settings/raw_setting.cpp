#include "settings/raw_setting.h"

namespace dsbuild {

MaybeRawSetting first_given(std::initializer_list<MaybeRawSetting> by_precedence) {
  for (const MaybeRawSetting& given : by_precedence) {
    if (given) return given;
  }
  return std::nullopt;
}

MaybeRawSetting from_argument(const std::optional<std::string>& argument, const std::string& option) {
  if (!argument) return std::nullopt;
  return RawSetting{*argument, option};
}

MaybeRawSetting from_variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return RawSetting{found->second, name};
}

MaybeRawSetting from_config(const ConfigEntries& config, const std::string& key) {
  const auto found = config.find(key);
  if (found == config.end()) return std::nullopt;
  return found->second;
}

}  // namespace dsbuild
