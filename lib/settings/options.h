// The one table of what can be set: a row is an option, its variable, its key in config files, its words in
// help, and how its value is read and shown. Command line, help, man page, completion, config files and
// `plan -v` are made of it.
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
      read;  // none: load_settings does it
  std::function<SettingRow(const std::string& name, const Settings& settings)> show;  // none: it is not shown
};

enum class HelpScreen { first, second };

// A command uses the options of the topics that its row names (apps/dsbuild/option_uses.h). To type a
// different one is an error.
enum class Topic {
  own,             // of the one command whose row has the option
  every,           // how answers look: every command uses it
  config,          // which config file is read
  project_file,    // whether the project's is
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
  lock,              // for how long another dsbuild is waited for
  offline,
  digests,  // whether files are read again for them
  cache,    // where the local cache is
  trust,    // whose entries count
  cache_size,
  shared_cache,
  scope,  // of the shared cache
  strict,
  gpus,    // GPUs that a bundle is judged for
  sizes,   // how large it may be
  policy,  // what else it must be
};

struct Option {
  std::string names{};  // "--jobs,-j": the first is its own; "": a variable alone
  Topic topic = Topic::own;
  std::string type{};  // "N"; "": a flag. Completion offers what it lists ("auto|on|off", "DIR")
  std::string help{};  // what is without it stands in brackets
  HelpScreen screen = HelpScreen::second;
  std::string variable{};
  // Where several variables of the environment say it; none: `variable` does, by its own text.
  MaybeRawSetting (*read_environment)(const Environment& environment) = nullptr;
  std::string setting{};  // its name in `plan -v`, and of an option in config files; "": in neither
  std::string policy{};   // its key in policies (policy_options.h)
  std::vector<std::string> needs{};  // options of which one must be set, or this one does nothing
  SettingValue value{};
  bool decides_bytes = false;  // of what is built, besides --pack, --ops, --arch and what the machine has

  std::string name() const { return names.substr(0, names.find(',')); }
  bool is_flag() const { return type.empty(); }
};

// In the order of help.
const std::vector<Option>& options();
// Those of --config, sorted.
std::vector<std::string> preset_names(const FileReader& files, const Path& data_dir);
// Whether a config file may hold a list for it.
bool takes_list(const std::string& setting);
// Whether a policy may.
bool takes_list_in_policy(const Option& option);
// nullptr: there is no such option.
const Option* find_option(const std::string& name);

// One row per setting for `plan -v`: {"arch", "7.0;8.0+PTX", "--arch"}.
std::vector<SettingRow> setting_rows(const Settings& settings);
// Of them those that decide bytes and are no defaults, by name.
std::map<std::string, std::string> settings_of_bytes(const Settings& settings);
// What settings_of_bytes said, read back. `origin`: where it stands, for messages.
Result<void> take_settings_of_bytes(const std::map<std::string, std::string>& values,
                                    const std::string& origin, Settings& settings);

}  // namespace dsbuild
