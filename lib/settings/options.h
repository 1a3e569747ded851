// The one table of what can be set: a row is an option, its variable, its key in config files, its words in
// help, and how its value is read and shown. Command line, help, man page, completion, config files and
// `plan -v` are made of it.
#pragma once

#include <functional>
#include <vector>

#include "settings/given.h"
#include "settings/settings.h"

namespace dsbuild {

// How a setting is read from text, and how its value is shown.
struct SettingValue {
  std::function<Result<void>(const Given& given, Settings& settings)> read;  // none: load_settings does it
  std::function<SettingRow(const std::string& name, const Settings& settings)> show;  // none: it is not shown
};

enum class HelpScreen { first, second };

struct Option {
  std::string names{};  // "--jobs,-j": the first is its own; "": a variable alone
  std::string type{};   // "N"; "": a flag. Completion offers what it lists ("auto|on|off", "DIR")
  std::string help{};   // what is without it stands in brackets
  HelpScreen screen = HelpScreen::second;
  std::string variable{};
  std::string variable_means{};  // the value that a set variable stands for; "": its own text
  std::string setting{};         // its name in `plan -v`, and of an option in config files; "": in neither
  SettingValue value{};

  std::string name() const { return names.substr(0, names.find(',')); }
  bool is_flag() const { return type.empty(); }
};

// In the order of help.
const std::vector<Option>& options();
// Whether a config file may hold a list for it.
bool takes_list(const std::string& setting);
// nullptr: there is no such option.
const Option* find_option(const std::string& name);

// One row per setting for `plan -v`: {"arch", "7.0;8.0+PTX", "--arch"}.
std::vector<SettingRow> setting_rows(const Settings& settings);

}  // namespace dsbuild
