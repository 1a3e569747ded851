// configs/*.yaml, --config FILE and dsbuild.yaml: one flat map of the options' names.
#include <algorithm>

#include "base/yaml.h"
#include "settings/given.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const Option& option : options())
    if (!option.names.empty() && !option.setting.empty()) keys.push_back(option.setting);
  return keys;
}

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
};

tl::unexpected<Error> bad_config(const ConfigFile& file, const YamlNode& at, std::string what,
                                 std::string fix = {}) {
  return fail(Exit::usage, "bad_config", yaml_where(file.shown, at), std::move(what),
              fix.empty() ? "docs/cli.md lists the keys and what each takes." : std::move(fix));
}

Result<std::string> list_text(const ConfigFile& file, const std::string& key, const YamlNode& list) {
  std::vector<std::string> words;
  for (const YamlNode& item : list.items) {
    if (!item.is_scalar()) return bad_config(file, item, "'" + key + "' takes a list of words");
    words.push_back(item.scalar);
  }
  return join(words, ";");
}

Result<std::string> value_text(const ConfigFile& file, const std::string& key, const YamlNode& value) {
  if (value.is_scalar()) return value.scalar;
  if (!takes_list(key)) return bad_config(file, value, "'" + key + "' takes one value");
  if (value.is_sequence()) return list_text(file, key, value);
  return bad_config(file, value, "'" + key + "' takes a text or a list of words");
}

Result<ConfigEntries> parse_config(const ConfigFile& file, std::string_view text) {
  DSBUILD_TRY(root, parse_yaml(text, file.shown));
  if (root.kind == YamlNode::Kind::null) return ConfigEntries{};
  if (!root.is_map()) return bad_config(file, root, "a config file is a map of option names to values");
  const std::vector<std::string> keys = all_keys();
  ConfigEntries entries;
  for (const auto& [key, value] : root.entries) {
    const std::string name = today_name(key.scalar);
    if (!contains(keys, name)) {
      return bad_config(file, key, "unknown key '" + key.scalar + "'" + did_you_mean(key.scalar, keys),
                        "Keys of a config file: " + join(keys, ", ") + ".");
    }
    DSBUILD_TRY(value_as_text, value_text(file, key.scalar, value));
    entries[name] = Given{value_as_text, yaml_where(file.shown, key)};
  }
  return entries;
}

std::vector<std::string> preset_names(const FileReader& files, const Path& data_dir) {
  std::vector<std::string> names;
  for (const std::string& name : files.list(data_dir / "configs").value_or(std::vector<std::string>{})) {
    if (const Path file(name); file.extension() == ".yaml") names.push_back(file.stem().string());
  }
  return names;
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

Result<ConfigEntries> load_config(const std::string& config, const FileReader& files, const Path& data_dir) {
  DSBUILD_TRY(file, find_config(config, files, data_dir));
  return read_config_file(file.path, file.shown, files);
}

Result<ConfigEntries> read_config_file(const Path& file, const std::string& shown, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(file));
  return parse_config({file, shown}, text);
}

}  // namespace dsbuild
