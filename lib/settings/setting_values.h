// Functions that read and show the settings of each kind. Private to this stage.
#pragma once

#include <string>
#include <vector>

#include "settings/options.h"
#include "settings/values.h"

namespace dsbuild {

template <class T>
SettingRow row_of(const std::string& name, const Setting<T>& setting, std::string text) {
  return {name, std::move(text), setting.origin};
}

template <class T>
SettingValue text(Setting<T> Settings::* place) {
  return {[place](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(value, parse_non_blank(given));
            settings.*place = {T(value), given.origin};
            return {};
          },
          [place](const std::string& name, const Settings& settings) {
            return row_of(name, settings.*place, Path((settings.*place).value).string());
          }};
}

inline SettingValue number(Setting<int> Settings::* place, int least, int automatic, const char* meaning) {
  return {[=](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(value, parse_number(given, least));
            settings.*place = {value, given.origin};
            return {};
          },
          [=](const std::string& name, const Settings& settings) {
            const int value = (settings.*place).value;
            return row_of(name, settings.*place, value == automatic ? meaning : std::to_string(value));
          }};
}

enum class Zero { is_wrong, is_none };

inline SettingValue size(Setting<unsigned long long> Settings::* place, Zero zero,
                         const char* meaning_of_zero) {
  return {[=](const RawSetting& given, Settings& settings) -> Result<void> {
            settings.*place = {0, given.origin};
            if (zero == Zero::is_none && trim(given.text) == "0") return {};
            DSBUILD_TRY(bytes, parse_size(given));
            (settings.*place).value = bytes;
            return {};
          },
          [=](const std::string& name, const Settings& settings) {
            const auto bytes = (settings.*place).value;
            return row_of(name, settings.*place, bytes == 0 ? meaning_of_zero : human_size(bytes));
          }};
}

inline SettingRow show_switch(const std::string& name, const Setting<bool>& setting) {
  return row_of(name, setting, setting.value ? "yes" : "no");
}

inline SettingValue flag(Setting<bool> Settings::* place) {
  return {[place](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(value, parse_bool(given));
            settings.*place = {value, given.origin};
            return {};
          },
          [place](const std::string& name, const Settings& settings) {
            return show_switch(name, settings.*place);
          }};
}

// On if the text is exactly `on`; any other text is off.
inline SettingValue exactly(const char* on, Setting<bool> Settings::* place) {
  return {[=](const RawSetting& given, Settings& settings) -> Result<void> {
            settings.*place = {given.text == on, given.origin};
            return {};
          },
          [place](const std::string& name, const Settings& settings) {
            return show_switch(name, settings.*place);
          }};
}

// A flag with a variable of a different program: the variable means on if its text is exactly `on`.
inline SettingValue flag_or_exactly(const char* on, const char* variable, Setting<bool> Settings::* place) {
  return {[of_variable = exactly(on, place), as_flag = flag(place), variable](const RawSetting& given,
                                                                              Settings& settings) {
            return (given.origin == variable ? of_variable : as_flag).read(given, settings);
          },
          flag(place).show};
}

// `words`: in the order of the values.
template <class T>
SettingValue choice(Setting<T> Settings::* place, const std::vector<std::string>& words) {
  return {[=](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(index, parse_choice(given, words));
            settings.*place = {static_cast<T>(index), given.origin};
            return {};
          },
          [=](const std::string& name, const Settings& settings) {
            return row_of(name, settings.*place, words[static_cast<size_t>((settings.*place).value)]);
          }};
}

inline SettingValue word_of(Setting<std::string> Settings::* place, const std::vector<std::string>& words) {
  SettingValue value = text(place);
  value.read = [=](const RawSetting& given, Settings& settings) -> Result<void> {
    DSBUILD_TRY(index, parse_choice(given, words));
    settings.*place = {words[index], given.origin};
    return {};
  };
  return value;
}

inline SettingValue words(Setting<std::vector<std::string>> Settings::* place,
                          Result<std::vector<std::string>> (*parse)(const RawSetting& given)) {
  return {[=](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(value, parse(given));
            settings.*place = {value, given.origin};
            return {};
          },
          [place](const std::string& name, const Settings& settings) {
            return row_of(name, settings.*place, shell_join((settings.*place).value));
          }};
}

inline SettingValue uri(Setting<std::string> Settings::* place) {
  SettingValue value = text(place);
  value.read = [place](const RawSetting& given, Settings& settings) -> Result<void> {
    DSBUILD_TRY(uri, parse_uri(given));
    settings.*place = {uri, given.origin};
    return {};
  };
  return value;
}

// Not in config files and not shown in `plan -v`: requirements on bundles are in policies, and CI gives the
// run's id.
inline SettingValue unshown(SettingValue value) {
  value.show = nullptr;
  return value;
}

inline Result<std::vector<std::string>> as_a_shell_does(const RawSetting& given) {
  return shell_split(given.text);
}

}  // namespace dsbuild
