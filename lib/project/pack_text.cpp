// pack.yaml, as a person would write it.
#include "project/pack_text.h"

#include <algorithm>
#include <regex>

#include "base/args.h"
#include "base/build_layout.h"
#include "base/text.h"
#include "base/version.h"
#include "registry/registry.h"

namespace dsbuild {
namespace {

// ---- words of YAML

// Without quotes where nothing of YAML's is in it.
std::string scalar(const std::string& word) {
  static const std::regex plain(R"([A-Za-z0-9_./+=$@-][A-Za-z0-9_./+=$-]*)");
  if (std::regex_match(word, plain) && word != "-") return word;
  return "'" + replace_all(word, "'", "''") + "'";
}

Args scalars(Args words) {
  for (std::string& word : words)
    word = scalar(word);
  return words;
}

std::string flow(const Args& words) {
  return "[" + join(scalars(words), ", ") + "]";
}

constexpr size_t k_columns = 110;

// On one line where it fits, else an item a line.
std::string list_of_nodes(const std::string& indent, const std::string& key, const Args& nodes) {
  if (nodes.empty()) return "";
  const std::string line = indent + key + ": [" + join(nodes, ", ") + "]\n";
  if (line.size() <= k_columns) return line;
  std::string text = indent + key + ":\n";
  for (const std::string& node : nodes)
    text += indent + "  - " + node + "\n";
  return text;
}

std::string list(const std::string& indent, const std::string& key, const Args& words) {
  return list_of_nodes(indent, key, scalars(words));
}

std::string node_of(const PackFolder& folder) {
  const std::string path = scalar(folder.path);
  return folder.language.empty() ? path : "{value: " + path + ", for: " + folder.language + "}";
}

std::string map_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text;
  for (const auto& [key, value] : entries)
    text += (text.empty() ? "" : ", ") + key + ": " + (value.empty() ? "" : scalar(value));
  return "{" + text + "}";
}

// ---- what all ops share

// A key of `PackKeys`: of the ops that may have it, all or none have it in `defaults`.
template <class T>
void share(std::vector<PackOp>& ops, T PackKeys::* key, PackKeys& common, bool of_cuda_alone = false) {
  const T* first = nullptr;
  for (const PackOp& op : ops) {
    if (of_cuda_alone && !op.is_cuda) continue;
    if (!first) first = &(op.keys.*key);
    if (op.keys.*key != *first) return;
  }
  if (!first) return;
  common.*key = *first;
  for (PackOp& op : ops)
    op.keys.*key = T{};
}

void share_defines(std::vector<PackOp>& ops, PackKeys& common) {
  const auto first = ops.front().keys.defines;
  for (const auto& define : first) {
    const auto has = [&](const PackOp& op) { return std::ranges::count(op.keys.defines, define) > 0; };
    if (!std::ranges::all_of(ops, has)) continue;
    common.defines.push_back(define);
    for (PackOp& op : ops)
      std::erase(op.keys.defines, define);
  }
}

PackKeys shared_keys(std::vector<PackOp>& ops) {
  PackKeys common;
  if (ops.empty()) return common;
  share(ops, &PackKeys::include_dirs, common);
  share(ops, &PackKeys::cxx, common);
  share(ops, &PackKeys::nvcc, common, true);
  share(ops, &PackKeys::link, common);
  share(ops, &PackKeys::libraries, common);
  share(ops, &PackKeys::std_cxx, common);
  share(ops, &PackKeys::std_nvcc, common, true);
  share(ops, &PackKeys::undefined_symbols, common);
  share_defines(ops, common);
  return common;
}

// ---- text

constexpr const char* k_of_torch = "{torch: '>=2.0'}";

// Folders of the project come before those of torch, which has a pybind11 of its own.
std::string requires_text(const PackOp& op, bool says_torch) {
  Args entries;
  for (const HeaderFolder& folder : op.folders)
    entries.push_back("{folder: " + scalar(folder.folder) + (folder.in.empty() ? "" : ", in: " + folder.in) +
                      (folder.language.empty() ? "" : ", for: " + folder.language) + "}");
  if (says_torch) entries.push_back(k_of_torch);
  if (entries.empty()) return "";
  return "    requires: [" + join(entries, ", ") + "]\n";
}

std::string text_of(const PackKeys& keys, const std::string& indent) {
  Args folders;
  for (const PackFolder& folder : keys.include_dirs)
    folders.push_back(node_of(folder));
  std::string text = list_of_nodes(indent, "include_dirs", folders);
  if (!keys.defines.empty()) text += indent + "defines: " + map_of(keys.defines) + "\n";
  std::vector<std::pair<std::string, std::string>> standards;
  if (!keys.std_cxx.empty()) standards.emplace_back("cxx", keys.std_cxx);
  if (!keys.std_nvcc.empty()) standards.emplace_back("nvcc", keys.std_nvcc);
  if (!standards.empty()) text += indent + "std: " + map_of(standards) + "\n";
  const std::string flags = list(indent + "  ", "cxx", keys.cxx) + list(indent + "  ", "nvcc", keys.nvcc) +
                            list(indent + "  ", "link", keys.link);
  if (!flags.empty()) text += indent + "flags:\n" + flags;
  text += list(indent, "libraries", keys.libraries);
  if (!keys.undefined_symbols.empty()) text += indent + "undefined_symbols: " + keys.undefined_symbols + "\n";
  return text;
}

std::string sources_text(const std::vector<PackSource>& sources) {
  const bool is_plain = std::ranges::all_of(
      sources, [](const PackSource& source) { return !source.is_glob && source.archs.empty(); });
  Args paths;
  for (const PackSource& source : sources)
    paths.push_back(source.path);
  if (is_plain) return list("    ", "sources", paths);
  std::string text = "    sources:\n";
  for (const PackSource& source : sources) {
    if (source.is_glob)
      text += "      - glob: " + scalar(source.path) + "\n";
    else if (source.archs.empty())
      text += "      - " + scalar(source.path) + "\n";
    else
      text += "      - {path: " + scalar(source.path) + ", archs: {only: " + flow(source.archs) + "}}\n";
  }
  return text;
}

std::string text_of(const PackOp& op) {
  std::string text;
  for (const std::string& line : op.left_out)
    text += "  # left out of " + op.name + ": " + printable(line) + "\n";
  text += "  " + op.name + ":  # " + op.where + "\n    module: " + op.module + "\n";
  if (!op.suffix.empty()) text += "    module_suffix: " + op.suffix + "\n";
  if (!op.is_cuda) text += "    backend: cpu\n";
  text += sources_text(op.sources) + text_of(op.keys, "    ");
  if (!op.archs.empty())
    text += "    # -gencode and -arch in the commands of " + op.where +
            "\n    archs: {only: " + flow(op.archs) + "}\n";
  return text;
}

std::string head_of(const Project& project, const std::string& source_root) {
  const std::string name = plain_name(project.name),
                    version = project.version == "0.0.0" ? "" : project.version;
  std::string text = std::string(k_project_pack_start) + ", of the " + project.file + " of " +
                     printable(project.name) + (version.empty() ? "" : " " + printable(version)) +
                     ". docs/reference/op_yaml.md says what may stand here.\n";
  for (const std::string& line : project.said)
    text += "# " + printable(line) + "\n";
  text += "name: " + (op_name_refusal(name).empty() ? name : "project") +
          "\nsource_root: " + scalar(source_root) + "\n";
  for (const ProjectExtension& extension : project.extensions)
    if (!extension.package_root.empty()) {
      text += "package_root: " + scalar(extension.package_root) + "\n";
      break;
    }
  if (parse_release(version)) text += "version: '" + version + "'\n";
  if (!project.license.empty()) text += "license: " + scalar(project.license) + "\n";
  return text;
}

}  // namespace

std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : to_lower(text)) {
    const bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (letter || (digit && !name.empty()))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with("_"))
    name.pop_back();
  return name.substr(0, 64);
}

std::string pack_text(const Project& project, const std::string& source_root, const Args& said,
                      std::vector<PackOp> ops) {
  std::string text = head_of(project, source_root);
  for (size_t i = project.said.size(); i < said.size() && said[i].starts_with("left out: "); ++i)
    text += "# " + printable(said[i]) + "\n";
  const bool is_one = ops.size() == 1;
  const bool are_of_torch =
      std::ranges::all_of(ops, [](const PackOp& op) { return op.of_torch && op.folders.empty(); });
  if (!is_one) {
    const std::string defaults = text_of(shared_keys(ops), "  ") +
                                 (are_of_torch ? "  requires: [" + std::string(k_of_torch) + "]\n" : "");
    if (!defaults.empty()) text += "defaults:\n" + defaults;
  }
  text += "ops:\n";
  for (const PackOp& op : ops)
    text += text_of(op) + requires_text(op, op.of_torch && (is_one || !are_of_torch));
  return text;
}

}  // namespace dsbuild
