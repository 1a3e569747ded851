// A pack on disk -> Registry.
#include <algorithm>
#include <map>

#include "registry/registry.h"
#include "registry/spec_reader.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

struct PackFolder {
  Path path;
  std::string shown;  // in messages; below data_dir the part from there on
};

std::vector<std::string> names_in(const FileReader& files, const Path& folder) {
  return files.list(folder).value_or(std::vector<std::string>{});
}

bool is_file(const FileReader& files, const Path& path) {
  return files.kind(path) == FileKind::file;
}

// Where a pack's specs are, relative to its folder: op.yaml itself, or one a folder.
std::vector<std::string> spec_paths(const FileReader& files, const Path& folder) {
  if (is_file(files, folder / "op.yaml")) return {"op.yaml"};
  std::vector<std::string> paths;
  for (const std::string& name : names_in(files, folder)) {
    const std::string path = name + "/op.yaml";
    if (is_file(files, folder / path)) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> known_packs(const FileReader& files, const Path& data_dir) {
  std::vector<std::string> packs;
  for (const std::string& name : names_in(files, data_dir / "ops")) {
    if (files.kind(data_dir / "ops" / name) == FileKind::directory) packs.push_back(name);
  }
  return packs;
}

// A pack's own name comes first, so that a folder of that name in the current folder changes nothing.
Result<PackFolder> find_pack(const Settings& settings, const FileReader& files) {
  const std::string& pack = settings.pack.value;
  const std::vector<std::string> packs = known_packs(files, settings.data_dir);
  if (std::find(packs.begin(), packs.end(), pack) != packs.end()) {
    return PackFolder{settings.data_dir / "ops" / pack, "ops/" + pack};
  }
  if (files.kind(pack) == FileKind::directory) return PackFolder{pack, pack};
  return fail(Exit::usage, "unknown_pack", "--pack",
              "there is no pack '" + printable(pack) + "'" + did_you_mean(pack, packs),
              "Packs: " + join(packs, ", ") + ". A folder of your own is given by its path.");
}

// A pack as its pack.yaml says; all of that is optional.
struct PackSpec : Pack {
  std::string root_origin;  // of source_root, for messages
};

// The only path of a spec that may hold '..': it says where the pack's sources are.
std::string refuse_source_root(const std::string& path) {
  if (path.empty()) return "is empty";
  if (path[0] == '/' || path[0] == '~') return "is not relative to the pack's folder";
  return printable(path) == path ? "" : "has a control character";
}

std::string refuse_version(const std::string& text) {
  const auto version = parse_version(text);
  return version && version->text() == text ? "" : "is no version (as in 0.19.8)";
}

Result<PackSpec> parse_pack(const std::string& text, const SourceTree& tree, PackSpec spec) {
  const SpecFile file{spec.shown + "/pack.yaml", tree};
  DSBUILD_TRY(root, parse_yaml(text, file.shown));
  DSBUILD_CHECK(check_map(file, root, "the pack", {"name", "source_root", "version"}));
  if (const YamlNode* node = root.find("name")) {
    DSBUILD_TRY(name, read_word(file, *node, "'name'", refuse_op_name));
    spec.name = std::move(name);
  }
  if (const YamlNode* node = root.find("source_root")) {
    DSBUILD_TRY(source_root, read_word(file, *node, "'source_root'", refuse_source_root));
    spec.source_root = spec.spec_root / source_root;
    spec.root_origin = yaml_where(file.shown, *node);
  }
  if (const YamlNode* node = root.find("version")) {
    DSBUILD_TRY(version, read_word(file, *node, "'version'", refuse_version));
    spec.version = *parse_version(version);
  }
  return spec;
}

// Absolute, and without the '/' that a user may write at a folder's end.
Path tidy(const FileReader& files, const Path& folder) {
  const Path path = files.absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

using SeenFiles = std::map<std::string, std::string>;

// Two specs must not claim one word: the message names both.
Result<void> claim(SeenFiles& seen, const std::string& word, const std::string& what,
                   const std::string& file) {
  const auto [twin, is_new] = seen.emplace(word, file);
  if (is_new) return {};
  return fail(Exit::usage, "bad_spec", file, what + " '" + word + "' is taken by " + twin->second,
              "Rename one of the two.");
}

Result<void> check_needs(const Registry& registry) {
  for (const OpBuilder& op : registry.ops) {
    for (const Entry<std::string>& need : op.spec().needs) {
      if (need.value != op.name() && registry.find(need.value)) continue;
      const std::string what = need.value == op.name()
                                   ? "'needs': the op needs itself"
                                   : "'needs': no op '" + need.value + "' in pack '" + registry.pack + "'" +
                                         did_you_mean(need.value, registry.names());
      return fail(Exit::usage, "bad_spec", need.origin.text, what);
    }
  }
  return {};
}

bool by_name(const OpBuilder& a, const OpBuilder& b) {
  return a.name() < b.name();
}

Result<void> load_ops(const FileReader& files, const Pack& pack, Registry& registry) {
  const SourceTree tree = make_source_tree(files, registry.source_root, registry.source_version);
  SeenFiles names, build_vars;
  const std::vector<std::string> paths = spec_paths(files, pack.spec_root);
  if (paths.empty())
    return fail(Exit::usage, "unknown_pack", "--pack", "'" + printable(pack.shown) + "' holds no op.yaml",
                "A pack is a folder with <op>/op.yaml for each of its ops; `dsbuild new OP` writes one.");
  for (const std::string& path : paths) {
    DSBUILD_TRY(text, files.read_file(pack.spec_root / path));
    const SpecFile file{pack.shown + "/" + path, tree};
    DSBUILD_TRY(spec, read_op_spec(text, file, pack.spec_root / path));
    DSBUILD_CHECK(claim(names, spec.name, "the op name", file.shown));
    DSBUILD_CHECK(claim(build_vars, spec.build_var, "the build variable", file.shown));
    registry.ops.emplace_back(std::move(spec));
  }
  std::sort(registry.ops.begin(), registry.ops.end(), by_name);
  return check_needs(registry);
}

}  // namespace

const OpBuilder* Registry::find(const std::string& name) const {
  const auto is_before = [](const OpBuilder& op, const std::string& word) { return op.name() < word; };
  const auto found = std::lower_bound(ops.begin(), ops.end(), name, is_before);
  return found != ops.end() && found->name() == name ? &*found : nullptr;
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> all;
  for (const OpBuilder& op : ops)
    all.push_back(op.name());
  return all;
}

Result<Pack> load_pack(const Settings& settings, const FileReader& files) {
  DSBUILD_TRY(folder, find_pack(settings, files));
  PackSpec spec{{tidy(files, folder.path).filename().string(), folder.path, folder.path, {}, folder.shown},
                folder.shown};
  if (is_file(files, folder.path / "pack.yaml")) {
    DSBUILD_TRY(text, files.read_file(folder.path / "pack.yaml"));
    DSBUILD_TRY(parsed, parse_pack(text, make_source_tree(files, folder.path, {}), spec));
    spec = std::move(parsed);
  }
  if (!settings.source.is_default()) {
    spec.source_root = settings.source.value;
    spec.root_origin = settings.source.origin;
  }
  spec.source_root = tidy(files, spec.source_root);
  if (files.kind(spec.source_root) == FileKind::directory) return spec;
  return fail(Exit::usage, "missing_source", spec.root_origin, "the source root is no folder",
              "Looked for " + spec.source_root.string() + ". --source DIR names another.");
}

std::string op_name_refusal(const std::string& name) {
  std::string reason = refuse_op_name(name);
  if (!reason.empty()) return reason;
  reason = refuse_build_var("DS_BUILD_" + to_upper(name));
  return reason.empty() ? "" : "is no op name: DS_BUILD_" + to_upper(name) + " " + reason;
}

Result<Registry> load_registry(const Settings& settings, const FileReader& files) {
  DSBUILD_TRY(pack, load_pack(settings, files));
  Registry registry;
  registry.pack = pack.name;
  registry.spec_root = pack.spec_root;
  registry.source_root = pack.source_root;
  registry.source_version = pack.version;
  DSBUILD_CHECK(load_ops(files, pack, registry));
  return registry;
}

}  // namespace dsbuild
