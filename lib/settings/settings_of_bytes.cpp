#include "settings/options.h"

namespace dsbuild {

std::map<std::string, std::string> settings_of_bytes(const Settings& settings) {
  std::map<std::string, std::string> values;
  for (const Option& option : options()) {
    if (!option.decides_bytes) continue;
    SettingRow row = option.value.show(option.setting, settings);
    if (row.origin != Setting<int>{}.origin) values.emplace(option.setting, std::move(row.value));
  }
  return values;
}

Result<void> take_settings_of_bytes(const std::map<std::string, std::string>& values,
                                    const std::string& origin, Settings& settings) {
  for (const Option& option : options()) {
    const auto found = option.decides_bytes ? values.find(option.setting) : values.end();
    if (found != values.end()) DSBUILD_CHECK(option.value.read({found->second, origin}, settings));
  }
  return {};
}

}  // namespace dsbuild
