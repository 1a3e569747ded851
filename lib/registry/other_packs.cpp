#include "registry/other_packs.h"

#include <algorithm>

#include "base/yaml.h"

namespace dsbuild {
namespace {

// Of a spec of another pack; empty where it cannot be read.
struct OpHead {
  std::string name, build_var;
};

OpHead head_of(const FileReader& files, const Path& spec) {
  const Result<std::string> text = files.read_file(spec);
  const Result<YamlNode> root = text ? parse_yaml(*text, spec.string()) : YamlNode{};
  if (!root || !root->is_map()) return {};
  const auto value = [&](const char* key) {
    const YamlNode* node = root->find(key);
    return node ? node->scalar : "";
  };
  OpHead head{value("name"), value("build_var")};
  if (head.build_var.empty() && !head.name.empty()) head.build_var = "DS_BUILD_" + to_upper(head.name);
  return head;
}

std::vector<OpHead> heads_of(const FileReader& files, const Path& folder) {
  std::vector<OpHead> heads;
  for (const std::string& path : spec_paths(files, folder))
    if (OpHead head = head_of(files, folder / path); !head.name.empty()) heads.push_back(std::move(head));
  return heads;
}

std::string options_for(const std::string& pack, const std::string& ops) {
  return "--pack " + shell_quote(pack) + " --ops " + shell_quote(ops);
}

std::string said_of(const std::string& pack, const std::string& ops) {
  return "Pack '" + printable(pack) + "' has it: " + options_for(pack, ops) + ".";
}

std::string said_of_folder(const std::string& name, const FileReader& files) {
  const auto ops = ops_in_folder(name, files);
  return ops ? "It is a folder of ops: " + options_for(ops->pack, ops->ops) + "." : "";
}

// "deepspeed/fused_adam", as `load` takes it, asks that pack alone.
std::string said_of_pack(const std::string& pack, const std::string& word, const Path& folder,
                         const FileReader& files) {
  const std::string own = word.starts_with(pack + "/") ? word.substr(pack.size() + 1) : word;
  std::vector<std::string> ops;
  for (const OpHead& head : heads_of(files, folder))
    if (stands_for(own, head.name, head.build_var)) ops.push_back(head.name);
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops.empty() ? "" : said_of(pack, join(ops, ","));
}

// A pack of the user's own, in the current folder.
std::string said_of_neighbours(const std::string& word, const Registry& registry, const FileReader& files) {
  if (word.find('/') != std::string::npos || word.empty() || word.front() == '.') return "";
  for (const std::string& name : files.list(".").value_or(std::vector<std::string>{})) {
    const Path folder = Path(".") / name;
    const bool has_it = files.kind(folder / word / "op.yaml") == FileKind::file;
    if (has_it && files.real_path(folder) != files.real_path(registry.spec_root))
      return said_of(folder.string(), word);
  }
  return "";
}

std::string said_elsewhere(const std::string& word, const Settings& settings, const FileReader& files,
                           const Registry& registry) {
  if (std::string said = said_of_folder(word, files); !said.empty()) return said;
  const std::vector<std::string> packs = known_packs(files, settings.data_dir);
  if (std::find(packs.begin(), packs.end(), word) != packs.end())
    return "It is a pack: " + options_for(word, "all") + ".";
  for (const std::string& pack : packs) {
    const Path folder = settings.data_dir / "ops" / pack;
    if (std::string said = said_of_pack(pack, word, folder, files); !said.empty()) return said;
  }
  return said_of_neighbours(word, registry, files);
}

bool has_variable(const Registry& registry, const std::string& variable) {
  return std::any_of(registry.ops.begin(), registry.ops.end(),
                     [&](const OpBuilder& op) { return op.spec().build_var == variable; });
}

void find_variables(const Settings& settings, const FileReader& files, Registry& registry) {
  std::vector<std::string> unknown;
  for (const auto& [variable, value] : settings.selection.variables)
    if (value != Switch::unset && !has_variable(registry, variable)) unknown.push_back(variable);
  if (unknown.empty()) return;
  for (const std::string& pack : known_packs(files, settings.data_dir)) {
    const Path folder = settings.data_dir / "ops" / pack;
    if (folder == registry.spec_root) continue;
    for (const OpHead& head : heads_of(files, folder))
      if (std::find(unknown.begin(), unknown.end(), head.build_var) != unknown.end())
        registry.other_packs[head.build_var].push_back(pack);
  }
}

}  // namespace

std::vector<std::string> spec_paths(const FileReader& files, const Path& folder) {
  const auto is_file = [&](const Path& path) { return files.kind(path) == FileKind::file; };
  if (is_file(folder / "op.yaml")) return {"op.yaml"};
  std::vector<std::string> paths;
  for (const std::string& name : files.list(folder).value_or(std::vector<std::string>{})) {
    const std::string path = name + "/op.yaml";
    if (is_file(folder / path)) paths.push_back(path);
  }
  return paths;
}

std::optional<NamedOps> ops_in_folder(const std::string& name, const FileReader& files) {
  if (files.kind(name) != FileKind::directory || spec_paths(files, name).empty()) return std::nullopt;
  const Path folder = Path(name).has_filename() ? Path(name) : Path(name).parent_path();
  const std::string op = head_of(files, folder / "op.yaml").name;
  const bool is_in_pack = !op.empty() && folder.has_parent_path() && folder.parent_path() != ".";
  if (is_in_pack) return NamedOps{folder.parent_path().string(), op};
  return NamedOps{folder.string(), "all"};
}

bool stands_for(const std::string& word, const std::string& op, const std::string& build_var) {
  const std::string lower = to_lower(word);
  const size_t star = lower.find('*');
  if (star == std::string::npos) return op == lower || build_var == "DS_BUILD_" + to_upper(word);
  return op.size() + 1 >= lower.size() && op.starts_with(lower.substr(0, star)) &&
         op.ends_with(lower.substr(star + 1));
}

void find_other_packs(const Settings& settings, const FileReader& files, Registry& registry) {
  find_variables(settings, files, registry);
  for (const std::vector<std::string>& words : {settings.selection.names, settings.selection.without})
    for (const std::string& word : words) {
      if (registry.find(word) || registry.find_absent(word)) continue;
      if (std::string said = said_elsewhere(word, settings, files, registry); !said.empty())
        registry.elsewhere[word] = std::move(said);
    }
}

}  // namespace dsbuild
