#include "driver/build_inputs.h"

#include <algorithm>
#include <tuple>

#include "base/digest.h"
#include "exec/lists.h"
#include "exec/record.h"
#include "inputs/path_origin.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

using Names = std::set<std::string>;

// A line of a list of files, "<sha256> <path>"; nullopt for what stands there besides: parts that are absent,
// and what a wrapper answered.
std::optional<FileDigest> file_in(const std::string& line) {
  const size_t space = line.find(' ');
  if (space == std::string::npos || !is_sha256(line.substr(0, space))) return std::nullopt;
  return FileDigest{line.substr(space + 1), line.substr(0, space)};
}

// Of what a link reads besides the objects of the build.
const char* kind_of_linked(const std::string& path) {
  const std::string name = Path(path).filename().string();
  if (name.ends_with(".a")) return k_of_static_library;
  return name.ends_with(".o") ? k_of_object : k_of_shared_library;
}

constexpr std::string_view k_variable = "variable ";

class InputCollector {
 public:
  InputCollector(const Plan& plan, const std::map<std::string, std::string>& libraries, FileSystem& files)
      : plan_(plan),
        libraries_(libraries),
        files_(files),
        build_dir_(plan.settings().build_dir.value),
        lists_(files, build_dir_, std::nullopt) {
    for (const auto& [path, digest] : plan.source_digests)
      sources_.insert(source_path(path));
  }

  BuildInputs collect() {
    for (const Edge& edge : plan_.graph.edges)
      if (runs_tools(edge)) add(edge);
    for (const auto& [list, users] : lists_of_headers_)
      add_list(list, users, [](const std::string&) { return k_of_header; });
    for (const auto& [list, users] : lists_of_links_)
      add_list(list, users, kind_of_linked);
    for (const auto& [tool, users] : users_of_tools_)
      add_parts(tool, users);
    for (auto& [key, dependency] : found_)
      inputs_.files.push_back(std::move(dependency));
    return std::move(inputs_);
  }

 private:
  void add(const Edge& edge) {
    const Names users = users_of(edge);
    const auto text = users.empty() ? Result<std::string>("") : read_record(edge);
    const auto record = text ? parse_record(*text) : std::nullopt;
    if (!record) return;
    inputs_.reproducible = inputs_.reproducible && can_hold(*record) && record->file_times.empty();
    for (const FileDigest& input : record->inputs)
      if (is_in_pack(input.path)) add_file(kind_in_pack(edge, input.path), input, users);
    (edge.is_link() ? lists_of_links_ : lists_of_headers_)[record->others].insert(users.begin(), users.end());
    users_of_tools_[tools_file(edge)].insert(users.begin(), users.end());
    if (edge.kind == EdgeKind::link) inputs_.actions[*users.begin()] = record->key.digest();
  }

  Result<std::string> read_record(const Edge& edge) const {
    return files_.read_file(build_dir_ / record_file(edge.output));
  }

  Names users_of(const Edge& edge) const {
    const auto own = libraries_.find(edge.op);
    if (own != libraries_.end()) return {own->second};
    Names users;
    if (plan_.archs.find(edge.op)) return users;  // it failed
    for (const auto& [op, file] : libraries_)     // what several ops share
      if (is_for_op(plan_.graph, edge, op)) users.insert(file);
    return users;
  }

  const char* kind_in_pack(const Edge& edge, const std::string& path) const {
    if (sources_.contains(path)) return k_of_source;
    return edge.is_link() ? kind_of_linked(path) : k_of_header;
  }

  template <class KindOf>
  void add_list(const std::string& list, const Names& users, KindOf kind_of) {
    for (const std::string& line : split_lines(lists_.find(list).value_or("")))
      if (const auto file = file_in(line)) add_file(kind_of(file->path), *file, users);
  }

  void add_parts(const std::string& tools, const Names& users) {
    for (const auto& [name, tool] : plan_.tools.by_name) {
      if (id_file(name) != tools) continue;
      for (const std::string& line : split_lines(tool.text)) {
        const auto file = file_in(line);
        if (!file) continue;
        if (file->path.starts_with(k_variable))
          inputs_.variables[file->path.substr(k_variable.size())] = file->digest;
        else
          add_file(kind_of_part(name, file->path), *file, users);
      }
    }
  }

  // nvcc's own lie in its root; the rest of its parts are its host compiler's.
  static const char* kind_of_part(const std::string& tool, const std::string& path) {
    const bool is_compilers = tool == k_cxx_tool || (tool == k_nvcc_tool && !is_in_roots(path));
    return is_compilers ? k_of_compiler_part : k_of_toolkit_part;
  }

  void add_file(const char* kind, const FileDigest& file, const Names& users) {
    Dependency& dependency = found_[{kind, file.path, file.digest}];
    if (dependency.name.empty()) {
      dependency.kind = kind;
      dependency.name = file.path;
      dependency.sha256 = file.digest;
    }
    dependency.used_by.insert(users.begin(), users.end());
  }

  const Plan& plan_;
  const std::map<std::string, std::string>& libraries_;
  FileSystem& files_;
  const Path& build_dir_;
  Lists lists_;
  Names sources_;
  std::map<std::string, Names> lists_of_headers_, lists_of_links_, users_of_tools_;
  std::map<std::tuple<std::string, std::string, std::string>, Dependency> found_;
  BuildInputs inputs_;
};

}  // namespace

BuildInputs inputs_of_build(const Plan& plan, const std::map<std::string, std::string>& libraries,
                            FileSystem& files) {
  return InputCollector(plan, libraries, files).collect();
}

}  // namespace dsbuild
