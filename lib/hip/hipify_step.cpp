#include "hip/hipify_step.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/args.h"
#include "base/build_layout.h"
#include "base/digest.h"
#include "hip/hipify_script.h"
#include "inputs/include_search.h"

namespace dsbuild {
namespace {

using Tree = std::map<std::string, std::string>;  // path below its top -> bytes

// "pack/a/b.h" -> "a/b.h"
std::string below_pack(const std::string& path) {
  return path == k_pack_folder ? "." : path.substr(std::string_view(k_pack_folder).size() + 1);
}

std::string in_pack(const std::string& path) {
  return std::string(k_pack_folder) + "/" + path;
}

// All that the sources may include of the project, and the sources: with their texts, by their paths below
// the source root.
class SourcesRead {
 public:
  SourcesRead(const HipifyStep& step, const FileReader& files) : files_(files) {
    for (const std::string& folder : search_folders(step.include_flags))
      folders_.push_back(below_pack(folder));
  }

  Result<void> add(const std::string& path) {
    if (tree_.count(path) > 0) return {};
    DSBUILD_TRY(text, files_.read_file(in_pack(path)));
    const LookedFor looked_for = names_looked_for(text);
    tree_.emplace(path, std::move(text));
    for (const std::string& name : looked_for.names)
      DSBUILD_CHECK(add_named(name, Path(path).parent_path()));
    return {};
  }

  const Args& folders() const { return folders_; }
  const Tree& tree() const { return tree_; }

 private:
  Result<void> add_named(const std::string& name, const Path& beside) {
    for (const Path& folder : folders_of(beside)) {
      const std::string path = (folder / name).lexically_normal().string();
      if (path.starts_with("..") || path.starts_with("/") || path.find('\n') != std::string::npos) continue;
      if (files_.kind(in_pack(path)) == FileKind::file) DSBUILD_CHECK(add(path));
    }
    return {};
  }

  std::vector<Path> folders_of(const Path& beside) const {
    std::vector<Path> folders = {beside};
    folders.insert(folders.end(), folders_.begin(), folders_.end());
    return folders;
  }

  const FileReader& files_;
  Args folders_;
  Tree tree_;
};

constexpr const char* k_list_name = "/list";  // among a tree's files, which have relative paths

// The result is the tree and its list.
class HipifyStepper : public Stepper {
 public:
  HipifyStepper(const HipifyStep& step, Engine& engine)
      : step_(step),
        engine_(engine),
        files_(engine.files()),
        folder_(Path(step.output).replace_extension("").string()),
        scratch_(step.output + k_scratch_end) {}

  std::string path_of(const std::string& name) const override {
    return name == k_list_name ? step_.output : folder_ + "/" + name;
  }
  std::vector<std::string> output_names() const override { return {}; }

  Result<Made> make(Engine& engine) override {
    SourcesRead read(step_, files_);
    for (const std::string& source : step_.sources)
      DSBUILD_CHECK(read.add(below_pack(source)));
    DSBUILD_CHECK(fill_scratch(read.tree()));
    engine.acquire_full();
    DSBUILD_TRY(result, engine.run({command(read.folders())}));
    if (!result.ok()) {
      engine.print(result.out + result.err);
      return Made::failed(static_cast<int>(Exit::failed));
    }
    DSBUILD_TRY(tree, tree_of(result.out));
    DSBUILD_CHECK(files_.remove_all(scratch_));
    Made made{0, ResultOrigin::tools, {{k_list_name, list_of(tree)}}, {}, {}};
    made.record = engine.action().make_record(files_read(read.tree()));
    for (auto& [path, bytes] : tree)
      made.outputs.push_back({path, std::move(bytes)});
    return made;
  }

  // Of an older tree: a header that is gone must not be found.
  Result<void> clear_others(const CacheEntry& outputs, FileSystem& files) const override {
    std::set<std::string> names;
    for (const StoredFile& output : outputs)
      names.insert(output.name);
    DSBUILD_TRY(paths, paths_below(folder_));
    for (const std::string& path : paths)
      if (names.count(path) == 0) DSBUILD_CHECK(files.remove_all(folder_ + "/" + path));
    return {};
  }

 private:
  Result<void> fill_scratch(const Tree& tree) {
    DSBUILD_CHECK(files_.remove_all(scratch_));
    for (const auto& [path, bytes] : tree)
      DSBUILD_CHECK(write(Path(scratch_) / path, bytes));
    return {};
  }

  // -I: neither the current folder nor PYTHONPATH gives it modules.
  Command command(const Args& folders) const {
    Args argv = {step_.python, "-I", "-c", k_hipify_script, step_.package, scratch_};
    argv.insert(argv.end(), folders.begin(), folders.end());
    argv.emplace_back("--");
    for (const std::string& source : step_.sources)
      argv.push_back(below_pack(source));
    return {argv, engine_.machine().environment, {}, std::chrono::minutes(10)};
  }

  // What lies in the scratch folder, with each source as the file that was made of it.
  Result<Tree> tree_of(const std::string& answer) {
    Tree tree;
    DSBUILD_TRY(paths, paths_below(scratch_));
    for (const std::string& path : paths) {
      DSBUILD_TRY(bytes, files_.read_file(Path(scratch_) / path));
      tree[path] = std::move(bytes);
    }
    for (const std::string& line : split_lines(answer)) {
      const size_t tab = line.find('\t');
      if (tab == std::string::npos) continue;
      const std::string source = line.substr(0, tab), made = line.substr(tab + 1);
      if (source == made) continue;
      const auto found = tree.find(made);
      if (found == tree.end())
        return fail(Exit::failed, "io", made, "hipify says that it made this file, and it is not there");
      tree[source] = std::move(found->second);
      tree.erase(made);
    }
    return tree;
  }

  // Of all files below a folder, where it is there.
  Result<Args> paths_below(const Path& top, const Path& folder = {}) const {
    Args paths;
    if (files_.own_kind(top / folder) != FileKind::directory) return paths;
    DSBUILD_TRY(names, files_.list(top / folder));
    for (const std::string& name : names) {
      const Path path = folder / name;
      if (files_.own_kind(top / path) != FileKind::directory) {
        paths.push_back(path.string());
        continue;
      }
      DSBUILD_TRY(more, paths_below(top, path));
      paths.insert(paths.end(), more.begin(), more.end());
    }
    return paths;
  }

  FilesRead files_read(const Tree& read) const {
    FilesRead files;
    for (const auto& [path, text] : read)
      files.files.push_back(in_pack(path));
    files.command = step_.include_flags;
    files.command.emplace_back("-c");
    files.command.insert(files.command.end(), step_.sources.begin(), step_.sources.end());
    return files;
  }

  static std::string list_of(const Tree& tree) {
    std::string list;
    for (const auto& [path, bytes] : tree)
      list += sha256(bytes) + " " + path + "\n";
    return list;
  }

  Result<void> write(const Path& path, const std::string& bytes) {
    DSBUILD_CHECK(files_.make_directories(path.parent_path()));
    DSBUILD_CHECK(files_.write_if_different(path, bytes));
    return {};
  }

  const HipifyStep& step_;
  Engine& engine_;
  FileSystem& files_;
  const std::string folder_, scratch_;
};

}  // namespace

Result<StepEnd> run_hipify_step(const HipifyStep& step, Engine& engine) {
  HipifyStepper stepper(step, engine);
  return engine.drive(stepper);
}

}  // namespace dsbuild
