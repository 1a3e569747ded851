// A project's extensions -> pack.yaml, as a person would write it.
#include <algorithm>
#include <regex>
#include <set>

#include "base/build_layout.h"
#include "base/version.h"
#include "project/project.h"
#include "registry/registry.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

using Words = std::vector<std::string>;

// What a line of the pack says of an op, and of `defaults`.
struct Keys {
  Words include_dirs, cxx, nvcc, link, libraries;
  std::vector<std::pair<std::string, std::string>> defines;
  std::string std_cxx, std_nvcc;
  bool operator==(const Keys&) const = default;
};

struct Source {
  std::string path;  // or a glob
  bool is_glob = false;
  Words archs;
};

struct Op {
  std::string name, module, suffix, where;
  bool is_cuda = true, of_torch = true, has_device_code = false;
  std::vector<Source> sources;
  Keys keys;
  std::vector<HeaderFolder> folders;
  Words archs;         // patterns of `only`
  Words arch_request;  // for --arch
  Words left_out;      // comments
  Words missing;       // of these
};

// ---- words of YAML

// Without quotes where nothing of YAML's is in it.
std::string scalar(const std::string& word) {
  static const std::regex plain(R"([A-Za-z0-9_./+=$@-][A-Za-z0-9_./+=$-]*)");
  if (std::regex_match(word, plain) && word != "-") return word;
  return "'" + replace_all(word, "'", "''") + "'";
}

std::string flow(const Words& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + scalar(word);
  return "[" + text + "]";
}

constexpr size_t k_columns = 110;

// On one line where it fits, else an item a line.
std::string list(const std::string& indent, const std::string& key, const Words& words) {
  if (words.empty()) return "";
  const std::string line = indent + key + ": " + flow(words) + "\n";
  if (line.size() <= k_columns) return line;
  std::string text = indent + key + ":\n";
  for (const std::string& word : words)
    text += indent + "  - " + scalar(word) + "\n";
  return text;
}

std::string map_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text;
  for (const auto& [key, value] : entries)
    text += (text.empty() ? "" : ", ") + key + ": " + (value.empty() ? "" : scalar(value));
  return "{" + text + "}";
}

// ---- names

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

// The module's own, `_C` and the like with their package's.
std::string name_of(const std::string& module, std::set<std::string>& taken) {
  constexpr size_t k_least = 6;
  std::string name = plain_name(last_component(module));
  if (name.size() < k_least && module.find('.') != std::string::npos) name = plain_name(module);
  if (taken.contains(name)) name = plain_name(module);
  for (int i = 2; name.empty() || taken.contains(name); ++i)
    name = plain_name(module + "_" + std::to_string(i));
  taken.insert(name);
  return name;
}

// ---- one extension

class Translation {
 public:
  // `takes_list`: its archs are those of TORCH_CUDA_ARCH_LIST where its flags name none.
  Translation(const Project& project, const ProjectExtension& extension, bool takes_list)
      : project_(project), extension_(extension), takes_list_(takes_list) {}

  Op translate(std::string name) {
    op_.name = std::move(name);
    op_.module = extension_.name;
    op_.suffix = extension_.suffix;
    op_.where = extension_.where;
    op_.is_cuda = extension_.kind == "cuda";
    op_.of_torch = extension_.of_torch;
    add_sources();
    for (const std::string& folder : extension_.include_dirs)
      add_include(folder, "include_dirs");
    op_.folders = extension_.folders;
    for (const auto& [key, value] : extension_.defines)
      add_define(key, value);
    add_flags(FlagKind::cxx, extension_.cxx);
    if (op_.is_cuda) add_flags(FlagKind::nvcc, extension_.nvcc);
    if (takes_list_ && op_.archs.empty()) add_flags(FlagKind::nvcc, extension_.list_archs);
    for (const std::string& name_undefined : extension_.undefines) {
      add_flag(FlagKind::cxx, "-U" + name_undefined);
      if (op_.is_cuda) add_flag(FlagKind::nvcc, "-U" + name_undefined);
    }
    add_libraries();
    return std::move(op_);
  }

 private:
  const Project& project_;
  const ProjectExtension& extension_;
  bool takes_list_;
  Op op_;

  void leave_out(const std::string& what, const std::string& why) {
    const std::string line = what + ": " + why;
    if (std::ranges::find(op_.left_out, line) == op_.left_out.end()) op_.left_out.push_back(line);
  }

  // Without it the module would not be whole.
  void miss(const std::string& what, const std::string& why) {
    leave_out(what, why);
    op_.missing.push_back(op_.left_out.back());
  }

  // Relative to the project's folder, "." for itself; nullopt where it lies elsewhere.
  std::optional<std::string> inside(const std::string& path) const {
    const Path whole = (project_.folder / path).lexically_normal();
    std::string relative = whole.lexically_relative(project_.folder).string();
    if (relative.ends_with("/")) relative.pop_back();
    if (relative.empty() || relative == ".." || relative.starts_with("../")) return std::nullopt;
    return relative;
  }

  void add_sources() {
    std::set<std::string> paths;
    for (const std::string& source : extension_.sources) {
      const auto path = inside(source);
      const std::string end = path ? Path(*path).extension().string() : "";
      if (!path)
        miss(source, "lies outside of the project");
      else if (end == ".cu" || end == ".cpp" || end == ".cc" || end == ".cxx")
        paths.insert(*path);
      else
        miss(*path, "neither C++ nor CUDA");
    }
    op_.has_device_code =
        std::ranges::any_of(paths, [](const std::string& path) { return path.ends_with(".cu"); });
    for (const std::string& pattern : globs_within(paths))
      op_.sources.push_back({pattern, true, {}});
    for (const std::string& path : paths) {
      const auto archs = extension_.capabilities.find(path);
      op_.sources.push_back({path, false, archs == extension_.capabilities.end() ? Words{} : archs->second});
      for (std::string& arch : op_.sources.back().archs)
        arch = arch.substr(0, arch.find('+'));
    }
  }

  // Globs of the project's own whose files are all among the sources; these are then no more in `paths`.
  Words globs_within(std::set<std::string>& paths) const {
    constexpr size_t k_least = 3;
    Words chosen;
    for (const auto& [pattern, found] : project_.globs) {
      const bool fits = found.size() >= k_least && pattern.find('[') == std::string::npos &&
                        std::ranges::all_of(found, [&](const auto& file) { return paths.contains(file); });
      if (!fits) continue;
      chosen.push_back(pattern);
      for (const std::string& file : found)
        paths.erase(file);
    }
    return chosen;
  }

  void add_include(const std::string& folder, const std::string& of) {
    const auto path = inside(folder);
    if (path && refuse_include_dir(*path).empty())
      add(op_.keys.include_dirs, *path);
    else
      leave_out(of + " " + folder, path ? refuse_include_dir(*path) : "is no folder below the project's");
  }

  static void add(Words& words, const std::string& word) {
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }

  void add_define(const std::string& key, const std::string& value) {
    std::string why = refuse_identifier(key);
    if (why.empty() && !value.empty()) why = refuse_define_value(value);
    if (!why.empty()) return miss("define " + key + "=" + value, why);
    const auto same = [&](const auto& define) { return define.first == key; };
    if (std::ranges::none_of(op_.keys.defines, same)) op_.keys.defines.emplace_back(key, value);
  }

  // Words, of which some are values of the ones before.
  void add_flags(FlagKind kind, const Words& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      std::string flag = trim(words[i]);
      const bool has_next = i + 1 < words.size();
      const std::string next = has_next ? trim(words[i + 1]) : "";
      if (flag == "-I" || flag == "-isystem" || flag == "-D" || flag == "-U") {
        flag = flag == "-isystem" ? "-I" : flag;
        flag += next;
        ++i;
      } else if (has_next && kind == FlagKind::nvcc && (nvcc_option_takes_value(flag) || is_arch(flag))) {
        flag += "=" + next;
        ++i;
      }
      add_flag(kind, flag);
    }
  }

  static bool is_arch(const std::string& flag) {
    static const std::set<std::string> names = {"-gencode", "--generate-code", "-arch", "--gpu-architecture"};
    return names.contains(flag);
  }

  void add_flag(FlagKind kind, const std::string& flag) {
    if (flag.empty()) return;
    Keys& keys = op_.keys;
    const size_t equals = flag.find('=');
    if (kind == FlagKind::nvcc && is_job_control(flag)) return;
    if (kind == FlagKind::nvcc && is_arch(flag.substr(0, equals))) return add_archs(flag.substr(equals + 1));
    static const std::regex standard(R"(--?std=c\+\+(\d\d))");
    std::smatch match;
    if (std::regex_match(flag, match, standard)) {
      (kind == FlagKind::nvcc ? keys.std_nvcc : keys.std_cxx) = match[1];
      return;
    }
    const std::string why = flag_refusal(kind, flag);
    if (!why.empty() && flag.starts_with("-I")) return add_include(flag.substr(2), "-I");
    if (!why.empty() && flag.starts_with("-l")) return add_library(flag.substr(2));  // not -lineinfo
    const std::string name = kind == FlagKind::cxx    ? "flags.cxx"
                             : kind == FlagKind::nvcc ? "flags.nvcc"
                                                      : "flags.link";
    if (!why.empty()) return leave_out(name + " " + flag, why);
    // A list has no word twice; of equal ones the last counts.
    Words& words = kind == FlagKind::cxx ? keys.cxx : kind == FlagKind::nvcc ? keys.nvcc : keys.link;
    std::erase(words, flag);
    words.push_back(flag);
  }

  // "arch=compute_80,code=sm_80", "arch=compute_90,code=[sm_90,compute_90]", "sm_80" of -arch
  void add_archs(const std::string& text) {
    static const std::regex code(R"((sm|compute)_(\d+)(\d[af]?))");
    const size_t start = text.find("code=");
    const std::string codes = text.substr(start == std::string::npos ? 0 : start);
    Words real, virtual_;
    for (std::sregex_iterator at(codes.begin(), codes.end(), code), end; at != end; ++at)
      ((*at)[1] == "sm" ? real : virtual_).push_back((*at)[2].str() + "." + (*at)[3].str());
    for (const std::string& arch : real) {
      add(op_.archs, arch);
      add(op_.arch_request, arch);
    }
    for (const std::string& arch : virtual_) {
      const bool has_real = std::ranges::find(op_.archs, arch) != op_.archs.end();
      if (!has_real) add(op_.archs, arch + "-virtual");
      const auto same = std::ranges::find(op_.arch_request, arch);
      if (same != op_.arch_request.end())
        *same += "+PTX";
      else if (!has_real)
        add(op_.arch_request, arch + "-virtual");
    }
  }

  void add_library(const std::string& name) {
    if (const std::string why = refuse_library(name); !why.empty())
      leave_out("library " + name, why);
    else
      add(op_.keys.libraries, name);
  }

  void add_libraries() {
    for (const std::string& name : extension_.libraries)
      add_library(name);
    for (const std::string& folder : extension_.library_dirs)
      leave_out("library_dirs " + folder, "a bundle is linked with what the linker finds by itself");
    for (const std::string& object : extension_.extra_objects)
      miss("extra_objects " + object, "what is linked is made of sources");
    for (const std::string& folder : extension_.runtime_library_dirs)
      add_flag(FlagKind::link, "-Wl,-rpath," + folder);
    for (const std::string& flag : extension_.link) {
      if (flag.starts_with("-L"))
        leave_out("flags.link " + flag, "a bundle is linked with what the linker finds by itself");
      else
        add_flag(FlagKind::link, flag);
    }
  }
};

// ---- what all ops share

// A key of `Keys`: of the ops that may have it, all or none have it in `defaults`.
template <class T>
void share(std::vector<Op>& ops, T Keys::* key, Keys& common, bool of_cuda_alone = false) {
  const T* first = nullptr;
  for (const Op& op : ops) {
    if (of_cuda_alone && !op.is_cuda) continue;
    if (!first) first = &(op.keys.*key);
    if (op.keys.*key != *first) return;
  }
  if (!first) return;
  common.*key = *first;
  for (Op& op : ops)
    op.keys.*key = T{};
}

void share_defines(std::vector<Op>& ops, Keys& common) {
  const auto first = ops.front().keys.defines;
  for (const auto& define : first) {
    const auto has = [&](const Op& op) { return std::ranges::count(op.keys.defines, define) > 0; };
    if (!std::ranges::all_of(ops, has)) continue;
    common.defines.push_back(define);
    for (Op& op : ops)
      std::erase(op.keys.defines, define);
  }
}

Keys shared_keys(std::vector<Op>& ops) {
  Keys common;
  if (ops.empty()) return common;
  share(ops, &Keys::include_dirs, common);
  share(ops, &Keys::cxx, common);
  share(ops, &Keys::nvcc, common, true);
  share(ops, &Keys::link, common);
  share(ops, &Keys::libraries, common);
  share(ops, &Keys::std_cxx, common);
  share(ops, &Keys::std_nvcc, common, true);
  share_defines(ops, common);
  return common;
}

// ---- text

constexpr const char* k_of_torch = "{torch: '>=2.0'}";

// Folders of the project come before those of torch, which has a pybind11 of its own.
std::string requires_text(const Op& op, bool says_torch) {
  Words entries;
  for (const HeaderFolder& folder : op.folders)
    entries.push_back("{folder: " + scalar(folder.folder) + (folder.in.empty() ? "" : ", in: " + folder.in) +
                      "}");
  if (says_torch) entries.push_back(k_of_torch);
  if (entries.empty()) return "";
  return "    requires: [" + join(entries, ", ") + "]\n";
}

std::string text_of(const Keys& keys, const std::string& indent) {
  std::string text = list(indent, "include_dirs", keys.include_dirs);
  if (!keys.defines.empty()) text += indent + "defines: " + map_of(keys.defines) + "\n";
  std::vector<std::pair<std::string, std::string>> standards;
  if (!keys.std_cxx.empty()) standards.emplace_back("cxx", keys.std_cxx);
  if (!keys.std_nvcc.empty()) standards.emplace_back("nvcc", keys.std_nvcc);
  if (!standards.empty()) text += indent + "std: " + map_of(standards) + "\n";
  const std::string flags = list(indent + "  ", "cxx", keys.cxx) + list(indent + "  ", "nvcc", keys.nvcc) +
                            list(indent + "  ", "link", keys.link);
  if (!flags.empty()) text += indent + "flags:\n" + flags;
  return text + list(indent, "libraries", keys.libraries);
}

std::string sources_text(const std::vector<Source>& sources) {
  const bool is_plain = std::ranges::all_of(
      sources, [](const Source& source) { return !source.is_glob && source.archs.empty(); });
  Words paths;
  for (const Source& source : sources)
    paths.push_back(source.path);
  if (is_plain) return list("    ", "sources", paths);
  std::string text = "    sources:\n";
  for (const Source& source : sources) {
    if (source.is_glob)
      text += "      - glob: " + scalar(source.path) + "\n";
    else if (source.archs.empty())
      text += "      - " + scalar(source.path) + "\n";
    else
      text += "      - {path: " + scalar(source.path) + ", archs: {only: " + flow(source.archs) + "}}\n";
  }
  return text;
}

std::string text_of(const Op& op) {
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
                     ". docs/op_yaml.md says what may stand here.\n";
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

// Some extensions have archs of their own. Then a list for all would narrow them, and each has to say its
// own.
bool names_archs(const Project& project) {
  return std::ranges::any_of(project.extensions, [&](const ProjectExtension& extension) {
    return !Translation(project, extension, false).translate("any").archs.empty();
  });
}

std::vector<Op> ops_of(const Project& project, Words& said) {
  const bool takes_list = names_archs(project);
  std::vector<Op> ops;
  std::set<std::string> taken;
  for (const ProjectExtension& extension : project.extensions) {
    if (extension.kind == "plain") {
      said.push_back("left out: " + extension.name + " (" + extension.where +
                     ") is no extension of torch: its own build makes it");
      continue;
    }
    Op op = Translation(project, extension, takes_list).translate(name_of(extension.name, taken));
    if (project.whole && !op.left_out.empty())
      said.push_back("left out: " + extension.name + " is left to its own build: " + join(op.left_out, "; "));
    else if (op.sources.empty())
      said.push_back("left out: " + extension.name + " (" + extension.where + ") has no sources");
    else
      ops.push_back(std::move(op));
  }
  std::ranges::sort(ops, {}, &Op::name);
  return ops;
}

}  // namespace

ProjectPack pack_of(const Project& project, const std::string& source_root) {
  ProjectPack pack;
  pack.said = project.said;
  std::vector<Op> ops = ops_of(project, pack.said);
  Words request;
  bool all_have_archs = true;
  for (const Op& op : ops) {
    all_have_archs &= !op.has_device_code || !op.arch_request.empty();
    for (const std::string& line : op.left_out)
      pack.said.push_back("left out of " + op.name + ": " + line);
    for (const std::string& line : op.missing)
      pack.missing.push_back(op.name + ": " + line);
    for (const std::string& arch : op.arch_request)
      if (std::ranges::find(request, arch) == request.end()) request.push_back(arch);
  }
  if (all_have_archs) pack.archs = join(request, ";");
  pack.ops = ops.size();
  pack.text = head_of(project, source_root);
  for (size_t i = project.said.size(); i < pack.said.size() && pack.said[i].starts_with("left out: "); ++i)
    pack.text += "# " + printable(pack.said[i]) + "\n";
  const bool is_one = ops.size() == 1;
  const bool are_of_torch =
      std::ranges::all_of(ops, [](const Op& op) { return op.of_torch && op.folders.empty(); });
  if (!is_one)
    pack.text += "defaults:\n" + text_of(shared_keys(ops), "  ") +
                 (are_of_torch ? "  requires: [" + std::string(k_of_torch) + "]\n" : "");
  pack.text += "ops:\n";
  for (const Op& op : ops)
    pack.text += text_of(op) + requires_text(op, op.of_torch && (is_one || !are_of_torch));
  return pack;
}

}  // namespace dsbuild
