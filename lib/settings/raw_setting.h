// The text of a setting as the user gave it, and functions that choose between several such values. Private
// to this stage.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

// `origin` is the option, the variable or file:line:column; it is also the `where` of errors about the value.
struct RawSetting {
  std::string text;
  std::string origin;
};
using MaybeRawSetting = std::optional<RawSetting>;

// The first value that is given. Callers list values by precedence: the command line first, the config file
// last.
MaybeRawSetting first_given(std::initializer_list<MaybeRawSetting> by_precedence);
MaybeRawSetting from_argument(const std::optional<std::string>& argument, const std::string& option);
// An empty variable counts as unset.
MaybeRawSetting from_variable(const Environment& environment, const std::string& name);

// A config file's entries by key; lists are joined with ';'.
using ConfigEntries = std::map<std::string, RawSetting>;
MaybeRawSetting from_config(const ConfigEntries& config, const std::string& key);

// `config` is the value of --config: a preset of data_dir/configs, or a file.
// Errors, exit 2: `unknown_preset` (lists them), `no_config_file`, `bad_yaml`, `bad_config`.
Result<ConfigEntries> load_config(const std::string& config, const FileReader& files, const Path& data_dir);

// The file of --policy, likewise; lists are joined with ','. Errors, exit 2: those of reading, `bad_yaml`,
// `bad_policy`.
Result<ConfigEntries> read_policy_file(const Path& file, const FileReader& files);

// `shown`: the file in origins and messages. Errors: those of reading, `bad_yaml`, `bad_config`.
Result<ConfigEntries> read_config_file(const Path& file, const std::string& shown, const FileReader& files);

}  // namespace dsbuild
