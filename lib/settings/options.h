// The table of all options. A row has an option's name, variable, key in config files and help text, and the
// functions that read and show its value. Command line, help, man page, completion, config files and `plan
// -v` use this table.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "settings/raw_setting.h"
#include "settings/settings.h"

namespace dsbuild {

// How a setting is read from text, and how its value is shown.
struct SettingValue {
  std::function<Result<void>(const RawSetting& given, Settings& settings)>
      read;  // null: load_settings reads it
  std::function<SettingRow(const std::string& name, const Settings& settings)> show;  // null: it is not shown
};

enum class HelpScreen { first, second };

// A command uses the options of the topics that its row names (apps/dsbuild/option_uses.h). To type a
// different one is an error.
enum class Topic {
  own,             // of the one command whose row has the option
  every,           // the form of the output: every command uses it
  config,          // which config file is read
  project_file,    // whether dsbuild.yaml is read
  ops,             // which ops
  kept_ops,        // those of the bundle too
  archs,           // for which GPUs and CPUs
  disjoint_archs,  // whether ops may have no arch in common
  pack,            // whose ops
  source,          // where their sources are
  bundle,          // the bundle's folder
  build_folder,
  cuda,  // which CUDA toolkit
  other_toolkits,
  python,            // whose packages
  tool_environment,  // what compilers get of the environment
  compile,           // how files are compiled
  proof,             // whether nvcc compiles them too
  cores,             // cores and memory of a run
  failures,          // whether a run goes on after one
  build,             // what only a build does
  lock,              // how long to wait for a different dsbuild's lock
  offline,
  digests,  // whether files are read again for their digests
  cache,    // where the local cache is
  trust,    // whose cache entries are trusted
  cache_size,
  shared_cache,
  scope,  // of the shared cache
  strict,
  gpus,    // GPUs that a bundle is judged for
  sizes,   // how large it may be
  policy,  // further requirements on the bundle
};

struct Option {
  std::string names{};  // "--jobs,-j": the first is its own; "": a variable alone
  Topic topic = Topic::own;
  std::string type{};  // "N"; "": a flag. Completion offers what it lists ("auto|on|off", "DIR")
  std::string help{};  // the default is in brackets
  HelpScreen screen = HelpScreen::second;
  std::string variable{};
  // For an option that depends on several variables. null: the text of `variable` is the value.
  MaybeRawSetting (*read_environment)(const Environment& environment) = nullptr;
  std::string setting{};             // its name in `plan -v` and its key in config files; "": in neither
  std::string policy{};              // its key in policies (policy_options.h)
  std::vector<std::string> needs{};  // this option needs one of these to have an effect
  SettingValue value{};
  bool decides_bytes = false;  // affects the built bytes; besides --pack, --ops and --arch

  std::string name() const { return names.substr(0, names.find(',')); }
  bool is_flag() const { return type.empty(); }
};

// The rows, in the order of help.
const std::vector<Option>& options();
// The presets for --config, sorted.
std::vector<std::string> preset_names(const FileReader& files, const Path& data_dir);
// Whether its value in a config file may be a list.
bool takes_list(const std::string& setting);
// The same for a policy.
bool takes_list_in_policy(const Option& option);
// nullptr: there is no such option.
const Option* find_option(const std::string& name);

// One row per setting for `plan -v`: {"arch", "7.0;8.0+PTX", "--arch"}.
std::vector<SettingRow> setting_rows(const Settings& settings);
// The settings that decide bytes and are not defaults, by name.
std::map<std::string, std::string> settings_of_bytes(const Settings& settings);
// Reads the result of settings_of_bytes back. `origin`: its place, for messages.
Result<void> take_settings_of_bytes(const std::map<std::string, std::string>& values,
                                    const std::string& origin, Settings& settings);

}  // namespace dsbuild
