// configs/*.yaml, --config FILE and dsbuild.yaml, and the file of --policy: each one flat map of options'
// names.
#include <algorithm>

#include "base/yaml.h"
#include "settings/options.h"
#include "settings/raw_setting.h"

namespace dsbuild {
namespace {

// A kind of file.
struct ConfigKind {
  const char* noun;  // in messages
  MessageCode code;
  const char* page;                             // that lists the keys
  std::string (*key_of)(const Option& option);  // "": the option is not in it
  bool (*takes_list)(const Option& option);
  const char* separator;  // of a list as one text
};

const ConfigKind k_config = {"config file",
                             "bad_config",
                             "docs/reference/cli.md",
                             [](const Option& option) { return option.names.empty() ? "" : option.setting; },
                             [](const Option& option) { return takes_list(option.setting); },
                             ";"};
const ConfigKind k_policy = {"policy",
                             "bad_policy",
                             "docs/reference/policy.md",
                             [](const Option& option) { return option.policy; },
                             takes_list_in_policy,
                             ","};

// For this version, as the option's (apps/dsbuild/command_line.cpp).
std::string today_name(const std::string& key) {
  return key == "audit" ? "verify_against_nvcc" : key;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct ConfigFile {
  Path path;
  std::string shown;  // in origins and messages
  const ConfigKind& kind = k_config;
};

tl::unexpected<Error> bad_config(const ConfigFile& file, const YamlNode& at, std::string what,
                                 std::string fix = {}) {
  return fail(
      Exit::usage, file.kind.code, yaml_where(file.shown, at), std::move(what),
      fix.empty() ? std::string(file.kind.page) + " lists the keys and what each takes." : std::move(fix));
}

Result<std::string> list_text(const ConfigFile& file, const std::string& key, const YamlNode& list) {
  std::vector<std::string> words;
  for (const YamlNode& item : list.items) {
    if (!item.is_scalar()) return bad_config(file, item, "'" + key + "' takes a list of words");
    words.push_back(item.scalar);
  }
  return join(words, file.kind.separator);
}

Result<std::string> value_text(const ConfigFile& file, const std::string& key, const Option& option,
                               const YamlNode& value) {
  if (value.is_scalar()) return value.scalar;
  if (!file.kind.takes_list(option)) return bad_config(file, value, "'" + key + "' takes one value");
  if (value.is_sequence()) return list_text(file, key, value);
  return bad_config(file, value, "'" + key + "' takes a text or a list of words");
}

// By key.
std::map<std::string, const Option*> options_in(const ConfigKind& kind) {
  std::map<std::string, const Option*> known;
  for (const Option& option : options())
    if (const std::string key = kind.key_of(option); !key.empty()) known.emplace(key, &option);
  return known;
}

// In the table's order.
std::vector<std::string> keys_of(const ConfigKind& kind) {
  std::vector<std::string> keys;
  for (const Option& option : options())
    if (const std::string key = kind.key_of(option); !key.empty()) keys.push_back(key);
  return keys;
}

Result<ConfigEntries> parse_config(const ConfigFile& file, std::string_view text) {
  const std::string noun = file.kind.noun;
  DSBUILD_TRY(root, parse_yaml(text, file.shown));
  if (root.kind == YamlNode::Kind::null) return ConfigEntries{};
  if (!root.is_map()) return bad_config(file, root, "a " + noun + " is a map of option names to values");
  const auto known = options_in(file.kind);
  ConfigEntries entries;
  for (const auto& [key, value] : root.entries) {
    const std::string name = today_name(key.scalar);
    const auto option = known.find(name);
    if (option == known.end()) {
      const std::vector<std::string> keys = keys_of(file.kind);
      return bad_config(file, key, "unknown key '" + key.scalar + "'" + did_you_mean(key.scalar, keys),
                        "Keys of a " + noun + ": " + join(keys, ", ") + ".");
    }
    DSBUILD_TRY(value_as_text, value_text(file, key.scalar, *option->second, value));
    entries[name] = RawSetting{value_as_text, yaml_where(file.shown, key)};
  }
  return entries;
}

bool looks_like_file(const std::string& config) {
  const std::string extension = Path(config).extension().string();
  return config.find('/') != std::string::npos || extension == ".yaml" || extension == ".yml";
}

Result<ConfigFile> find_config(const std::string& config, const FileReader& files, const Path& data_dir) {
  if (looks_like_file(config)) {
    if (files.kind(config) == FileKind::file) return ConfigFile{config, config};
    return fail(Exit::usage, "no_config_file", "--config", "there is no file '" + printable(config) + "'",
                "Give a file, or a preset: " + join(preset_names(files, data_dir), ", ") + ".");
  }
  const std::vector<std::string> presets = preset_names(files, data_dir);
  if (contains(presets, config)) {
    const std::string name = config + ".yaml";
    return ConfigFile{data_dir / "configs" / name, "configs/" + name};
  }
  if (!config.empty() && files.kind(config) == FileKind::file) return ConfigFile{config, config};
  return fail(Exit::usage, "unknown_preset", "--config",
              "no preset or file '" + printable(config) + "'" + did_you_mean(config, presets),
              "Presets: " + join(presets, ", ") + ". A file is given by its path.");
}

}  // namespace

bool takes_list(const std::string& setting) {
  return setting == "ops" || setting == "arch" || setting == "pass_environment";
}

std::vector<std::string> preset_names(const FileReader& files, const Path& data_dir) {
  std::vector<std::string> names;
  for (const std::string& name : files.list(data_dir / "configs").value_or(std::vector<std::string>{})) {
    if (const Path file(name); file.extension() == ".yaml") names.push_back(file.stem().string());
  }
  return names;
}

bool takes_list_in_policy(const Option& option) {
  return option.type.size() > 1 && option.type.ends_with('S') && option.type == to_upper(option.type);
}

Result<ConfigEntries> load_config(const std::string& config, const FileReader& files, const Path& data_dir) {
  DSBUILD_TRY(file, find_config(config, files, data_dir));
  return read_config_file(file.path, file.shown, files);
}

Result<ConfigEntries> read_config_file(const Path& file, const std::string& shown, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(file));
  return parse_config({file, shown}, text);
}

Result<ConfigEntries> read_policy_file(const Path& file, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(file));
  return parse_config({file, file.string(), k_policy}, text);
}

}  // namespace dsbuild
