// A project's extensions -> ops of a pack.
#include <algorithm>
#include <regex>
#include <set>

#include "base/args.h"
#include "project/pack_text.h"
#include "registry/registry.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

// ---- names

// The module's own, `_C` and the like with their package's.
std::string name_of(const std::string& module, std::set<std::string>& taken) {
  constexpr size_t k_least = 6;
  std::string name = plain_name(last_component(module));
  if (name.size() < k_least && module.find('.') != std::string::npos) name = plain_name(module);
  const std::string whole = plain_name(module).empty() ? "module_" + module : module;  // "_80" has no letter
  if (name.empty() || taken.contains(name)) name = plain_name(whole);
  for (int i = 2; taken.contains(name); ++i)
    name = plain_name(whole + "_" + std::to_string(i));
  taken.insert(name);
  return name;
}

// ---- one extension

class Translation {
 public:
  Translation(const Project& project, const ProjectExtension& extension)
      : project_(project), extension_(extension) {
    op_.module = extension_.name;
    op_.suffix = extension_.suffix;
    op_.where = extension_.where;
    op_.is_cuda = extension_.kind == "cuda";
    op_.of_torch = extension_.of_torch;
    add_sources();
    for (const std::string& folder : extension_.include_dirs)
      add_include(folder, "include_dirs");
    for (const HeaderFolder& folder : extension_.folders)
      if (folder.in == k_in_project)
        add_include(folder.folder, "include_dirs", folder.language);
      else
        op_.folders.push_back(folder);
    for (const auto& [key, value] : extension_.defines)
      add_define(key, value);
    add_flags(FlagKind::cxx, extension_.cxx);
    if (op_.is_cuda) add_flags(FlagKind::nvcc, extension_.nvcc);
    add_libraries();
    if (links_the_same_) op_.keys.undefined_symbols = "warn";
  }

  bool names_archs() const { return !op_.archs.empty(); }
  // Its archs are those of TORCH_CUDA_ARCH_LIST where its flags name none.
  void take_list() {
    if (!names_archs()) add_flags(FlagKind::nvcc, extension_.list_archs);
  }
  PackOp op(std::string name) && {
    op_.name = std::move(name);
    return std::move(op_);
  }

 private:
  const Project& project_;
  const ProjectExtension& extension_;
  bool links_the_same_ = true;  // as the project's own build, whose undefined symbols are then those of ours
  PackOp op_;

  void leave_out(const std::string& what, const std::string& why) {
    const std::string line = what + ": " + why;
    if (std::ranges::find(op_.left_out, line) == op_.left_out.end()) op_.left_out.push_back(line);
  }

  void leave_out_of_link(const std::string& what, const std::string& why) {
    leave_out(what, why);
    links_the_same_ = false;
  }

  // Without it the module would not be whole.
  void miss(const std::string& what, const std::string& why) {
    leave_out_of_link(what, why);
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
      else if (end == ".cu" && !op_.is_cuda)
        miss(*path, "a CUDA source of a CppExtension, which is not linked with CUDA");
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
      op_.sources.push_back({path, false, archs == extension_.capabilities.end() ? Args{} : archs->second});
      for (std::string& arch : op_.sources.back().archs)
        arch = arch.substr(0, arch.find('+'));
    }
  }

  // Globs of the project's own whose files are all among the sources; these are then no more in `paths`.
  Args globs_within(std::set<std::string>& paths) const {
    constexpr size_t k_least = 3;
    Args chosen;
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

  void add_include(const std::string& folder, const std::string& of, const std::string& language = "") {
    const auto path = inside(folder);
    if (path && refuse_include_dir(*path).empty())
      add(op_.keys.include_dirs, PackFolder{*path, language});
    else
      leave_out(of + " " + folder, path ? refuse_include_dir(*path) : "is not a folder below the project's");
  }

  template <class T>
  static void add(std::vector<T>& all, const T& each) {
    if (std::ranges::find(all, each) == all.end()) all.push_back(each);
  }

  void add_define(const std::string& key, const std::string& value) {
    std::string why = refuse_identifier(key);
    if (why.empty() && !value.empty()) why = refuse_define_value(value);
    if (!why.empty()) return miss("define " + key + "=" + value, why);
    const auto same = [&](const auto& define) { return define.first == key; };
    if (std::ranges::none_of(op_.keys.defines, same)) op_.keys.defines.emplace_back(key, value);
  }

  // Words, of which some are values of the ones before.
  void add_flags(FlagKind kind, const Args& words) {
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
    PackKeys& keys = op_.keys;
    const size_t equals = flag.find('=');
    if (kind == FlagKind::nvcc && is_job_control(flag)) return;
    if (kind == FlagKind::nvcc && is_arch(flag.substr(0, equals)))
      return add_archs(with_ptx(flag.substr(0, equals), flag.substr(equals + 1)));
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
    if (!why.empty() && kind == FlagKind::link) return leave_out_of_link(name + " " + flag, why);
    if (!why.empty()) return leave_out(name + " " + flag, why);
    // A list has no word twice; of equal ones the last counts.
    Args& words = kind == FlagKind::cxx ? keys.cxx : kind == FlagKind::nvcc ? keys.nvcc : keys.link;
    std::erase(words, flag);
    words.push_back(flag);
  }

  // -arch=sm_80 is nvcc's short form of machine code and PTX.
  static std::string with_ptx(const std::string& option, const std::string& value) {
    const bool is_short = option == "-arch" || option == "--gpu-architecture";
    return is_short && value.starts_with("sm_") ? value + ",compute_" + value.substr(3) : value;
  }

  // "arch=compute_80,code=sm_80", "arch=compute_90,code=[sm_90,compute_90]", "sm_80" of -arch
  void add_archs(const std::string& text) {
    static const std::regex code(R"((sm|compute)_(\d+)(\d[af]?))");
    const size_t start = text.find("code=");
    const std::string codes = text.substr(start == std::string::npos ? 0 : start);
    Args real, virtual_;
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
      leave_out_of_link("library " + name, why);
    else
      add(op_.keys.libraries, name);
  }

  void add_libraries() {
    for (const std::string& name : extension_.libraries)
      add_library(name);
    for (const std::string& folder : extension_.library_dirs)
      leave_out_of_link("library_dirs " + folder, "a bundle is linked with what the linker finds by itself");
    for (const std::string& object : extension_.extra_objects)
      miss("extra_objects " + object, "a bundle is linked from compiled sources alone");
    for (const std::string& folder : extension_.runtime_library_dirs)
      add_flag(FlagKind::link, "-Wl,-rpath," + folder);
    for (const std::string& flag : extension_.link) {
      if (flag.starts_with("-L"))
        leave_out_of_link("flags.link " + flag, "a bundle is linked with what the linker finds by itself");
      else
        add_flag(FlagKind::link, flag);
    }
  }
};

// Where some extensions have archs of their own a list for all would narrow them, and each has to say its
// own.
std::vector<Translation> translations_of(const Project& project) {
  std::vector<Translation> translations;
  for (const ProjectExtension& extension : project.extensions)
    translations.emplace_back(project, extension);
  if (std::ranges::any_of(translations, &Translation::names_archs))
    std::ranges::for_each(translations, &Translation::take_list);
  return translations;
}

std::vector<PackOp> ops_of(const Project& project, Args& said) {
  std::vector<Translation> translations = translations_of(project);
  std::vector<PackOp> ops;
  std::set<std::string> taken;
  for (size_t i = 0; i < translations.size(); ++i) {
    const ProjectExtension& extension = project.extensions[i];
    if (extension.kind == "plain") {
      said.push_back("left out: " + extension.name + " (" + extension.where +
                     ") is not an extension of torch: its own build makes it");
      continue;
    }
    PackOp op = std::move(translations[i]).op(name_of(extension.name, taken));
    if (project.whole && !op.left_out.empty())
      said.push_back("left out: " + extension.name + " is left to its own build: " + join(op.left_out, "; "));
    else if (op.sources.empty())
      said.push_back("left out: " + extension.name + " (" + extension.where + ") has no sources");
    else
      ops.push_back(std::move(op));
  }
  std::ranges::sort(ops, {}, &PackOp::name);
  return ops;
}

}  // namespace

ProjectPack pack_of(const Project& project, const std::string& source_root) {
  ProjectPack pack;
  pack.said = project.said;
  std::vector<PackOp> ops = ops_of(project, pack.said);
  Args request;
  bool all_have_archs = true;
  for (const PackOp& op : ops) {
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
  pack.text = pack_text(project, source_root, pack.said, std::move(ops));
  return pack;
}

}  // namespace dsbuild
