// --pack, --source and pack.yaml -> Pack: where the specs and their sources are, and of which version.
#include <algorithm>

#include "registry/op_defaults.h"
#include "registry/other_packs.h"
#include "registry/registry.h"
#include "registry/spec_reader.h"
#include "registry/spec_words.h"
#include "sys/site_packages.h"

namespace dsbuild {
namespace {

struct PackFolder {
  Path path;
  std::string shown;  // in messages; below data_dir the part from there on
};

std::vector<std::string> names_in(const FileReader& files, const Path& folder) {
  return files.list(folder).value_or(std::vector<std::string>{});
}

// A pack of dsbuild's own, or a folder of ops beside the one that was named, spelt as that was.
std::string hint_at_pack(const std::string& named, const std::vector<std::string>& packs,
                         const FileReader& files) {
  const Path path = Path(named).has_filename() ? Path(named) : Path(named).parent_path();
  const Path parent = path.parent_path();
  std::vector<std::string> names = packs;
  for (const std::string& name : names_in(files, parent.empty() ? "." : parent))
    if (!spec_paths(files, parent / name).empty()) names.push_back(name);
  const std::string near = nearest(path.filename().string(), names);
  const bool is_own = std::find(packs.begin(), packs.end(), near) != packs.end();
  return near.empty() ? "" : " (did you mean '" + printable(is_own ? near : (parent / near).string()) + "'?)";
}

// A pack's own name comes first, so that a folder of that name in the current folder changes nothing.
Result<PackFolder> find_pack(const Settings& settings, const FileReader& files) {
  const std::string& pack = settings.pack.value;
  const std::vector<std::string> packs = known_packs(files, settings.data_dir);
  if (std::find(packs.begin(), packs.end(), pack) != packs.end()) {
    return PackFolder{settings.data_dir / "ops" / pack, "ops/" + pack};
  }
  if (files.kind(pack) == FileKind::directory) return PackFolder{pack, pack};
  if (packs.empty())
    return fail(
        Exit::usage, "unknown_pack", "--pack",
        "there is no pack '" + printable(pack) +
            "', nor any other: no folder above this program holds share/dsbuild/ops or ops/native",
        "Run dsbuild where it was installed or built: there it finds its packs, presets and templates. "
        "A folder of your own is given by its path.");
  return fail(Exit::usage, "unknown_pack", "--pack",
              "there is no pack '" + printable(pack) + "'" + hint_at_pack(pack, packs, files),
              "Packs: " + join(packs, ", ") + ". A folder of your own is given by its path.");
}

const std::vector<std::string> k_pack_keys = {"name",         "source_root",      "version",  "package",
                                              "package_root", "version_file",     "license",  "urls",
                                              "hipify",       "pass_environment", "defaults", "ops"};

// A pack as its pack.yaml says; all of that is optional.
struct PackSpec : Pack {
  std::string root_origin;   // of source_root, for messages
  std::string package;       // the Python package that the sources are part of
  std::string version_file;  // relative to the source root
  bool is_given = false;     // source_root is the user's
};

// The only path of a spec that may hold '..': it says where the pack's sources are.
std::string refuse_source_root(const std::string& path) {
  if (path.empty()) return "is empty";
  if (path[0] == '/' || path[0] == '~') return "is not relative to the pack's folder";
  return printable(path) == path ? "" : "has a control character";
}

std::string refuse_version(const std::string& text) {
  return parse_release(text) ? "" : "is not a version (as in 0.19.8 or 2.3.2.post1)";
}

// Its words; whether SPDX knows them, their list alone says (spdx.org/licenses, or LicenseRef-… of one's
// own).
std::string refuse_license(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view(" .-+()").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain && trim(text) == text && !text.empty() ? ""
                                                      : "is not an SPDX expression (as in Apache-2.0 OR MIT)";
}

// A label and an address of METADATA, which has both on one line.
std::string refuse_url_label(const std::string& text) {
  const bool plain =
      std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == ' ' || c == '-'; });
  return plain && trim(text) == text && !text.empty() && text.size() <= 32
             ? ""
             : "is not a label of up to 32 letters (as in Homepage or Source)";
}

std::string refuse_url(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  return is_plain && starts_with_one_of(text, {"https://", "http://"})
             ? ""
             : "is not an address that begins with https://";
}

Result<std::map<std::string, std::string>> read_urls(const SpecFile& file, const YamlNode& root) {
  std::map<std::string, std::string> urls;
  const YamlNode* node = root.find("urls");
  if (!node) return urls;
  DSBUILD_CHECK(check_is_map(file, *node, "'urls'"));
  for (const auto& [key, value] : node->entries) {
    DSBUILD_TRY(label, read_word(file, key, "'urls'", refuse_url_label));
    DSBUILD_TRY(url, read_word(file, value, "'urls." + label + "'", refuse_url));
    urls.emplace(std::move(label), std::move(url));
  }
  return urls;
}

// `into` stays as it is where the key is not there.
Result<void> read_key(const SpecFile& file, const YamlNode& root, const char* key, const WordRule& rule,
                      std::string& into) {
  const YamlNode* node = root.find(key);
  if (!node) return {};
  DSBUILD_TRY(word, read_word(file, *node, std::string("'") + key + "'", rule));
  into = std::move(word);
  return {};
}

Result<void> read_places(const SpecFile& file, const YamlNode& root, PackSpec& spec) {
  std::string source_root, version;
  Mistakes mistakes;
  mistakes.check(read_key(file, root, "source_root", refuse_source_root, source_root));
  mistakes.check(read_key(file, root, "version", refuse_version, version));
  mistakes.check(read_key(file, root, "package", refuse_identifier, spec.package));
  mistakes.check(read_key(file, root, "version_file", refuse_path, spec.version_file));
  mistakes.check(read_key(file, root, "package_root", refuse_path, spec.package_root));
  DSBUILD_CHECK(mistakes.result());
  if (!source_root.empty()) {
    if (!spec.package.empty())
      return bad_spec(file, *root.find("package"),
                      "'package' and 'source_root' both say where the sources are", "Keep one of them.");
    spec.source_root = spec.spec_root / source_root;
    spec.root_origin = yaml_where(file.shown, *root.find("source_root"));
  }
  if (!version.empty()) spec.version = *parse_release(version);
  return {};
}

Result<PackSpec> parse_pack(const std::string& text, const SourceTree& tree, PackSpec spec) {
  const SpecFile file{spec.shown + "/pack.yaml", tree};
  DSBUILD_TRY(root, parse_yaml(text, file.shown));
  DSBUILD_CHECK(check_is_map(file, root, "the pack"));
  Mistakes mistakes;
  mistakes.check(check_map(file, root, "the pack", k_pack_keys));
  mistakes.check(read_key(file, root, "name", refuse_op_name, spec.name));
  mistakes.check(read_key(file, root, "license", refuse_license, spec.license));
  mistakes.take(read_urls(file, root), spec.urls);
  mistakes.check(read_places(file, root, spec));
  std::string hipify;
  mistakes.check(read_key(file, root, "hipify", refuse_truth, hipify));
  spec.hipify = hipify == "true";
  if (const YamlNode* names = root.find("pass_environment"))
    mistakes.take(read_words(file, *names, "'pass_environment'", variable_name_refusal),
                  spec.pass_environment);
  mistakes.take(read_defaults(file, root), spec.defaults);
  mistakes.take(read_ops(file, root), spec.ops);
  DSBUILD_CHECK(mistakes.result());
  return spec;
}

// Absolute, and without the '/' that a user may write at a folder's end.
Path tidy(const FileReader& files, const Path& folder) {
  const Path path = files.absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

bool holds_package(const FileReader& files, const Path& folder, const std::string& package) {
  return files.kind(folder / package / "__init__.py") == FileKind::file;
}

// A source tree, a folder of Python packages, or the package itself.
Result<Path> root_of_package(const PackSpec& spec, const Path& source, const FileReader& files) {
  if (holds_package(files, source, spec.package)) return source;
  Path parent = source.parent_path();
  if (source.filename() == spec.package && holds_package(files, parent, spec.package)) return parent;
  return fail(Exit::usage, "missing_source", spec.root_origin,
              "the Python package '" + spec.package + "' is not in " + source.string(),
              "Give an unpacked source distribution, a checkout, or the folder of the installed package.");
}

// Where the package is installed: an interpreter that was asked for is the only one looked at.
Result<Path> find_package(const PackSpec& spec, const Setting<std::string>& python, const System& system) {
  std::string looked_in;
  for (const Path& packages : python.is_default() ? find_site_packages(system, python.value)
                                                  : site_packages_of(system, python.value)) {
    if (holds_package(system.files, packages, spec.package)) return packages;
    looked_in += "\n  " + packages.string();
  }
  return fail(Exit::unmet, "no_package", "--source",
              "pack '" + spec.name + "' builds the sources of the Python package '" + spec.package +
                  "', and it is not installed",
              "Install it, name the Python that has it (--python), or give its sources: --source DIR (an "
              "unpacked source "
              "distribution or a checkout)."
              "\nLooked in:" +
                  (looked_in.empty() ? " this Python has no folder of packages" : looked_in));
}

std::optional<Version> first_line_version(const FileReader& files, const Path& file) {
  const Result<std::string> text = files.read_file(file);
  return text ? parse_version(trim(split_lines(*text + "\n").front())) : std::nullopt;
}

// What pip wrote of a package beside it: "deepspeed-0.19.8.dist-info"; "deepspeed-0.19.8-py3.11.egg-info"
// where pip had no `wheel`.
struct InstalledFacts {
  Path folder;
  Version version;
};
std::optional<InstalledFacts> installed_facts(const FileReader& files, const PackSpec& spec) {
  const std::string start = spec.package + "-";
  for (const std::string& name : names_in(files, spec.source_root)) {
    const bool fits =
        name.starts_with(start) && (name.ends_with(".dist-info") || name.ends_with(".egg-info"));
    if (auto version = fits ? parse_version(name.substr(start.size())) : std::nullopt)
      return InstalledFacts{spec.source_root / name, std::move(*version)};
  }
  return std::nullopt;
}

// That of the sources comes before that of the op.yaml files.
LicenseFiles license_files_of(const PackSpec& spec, const FileReader& files) {
  const auto installed = spec.package.empty() ? std::nullopt : installed_facts(files, spec);
  std::vector<Path> folders = installed ? std::vector<Path>{installed->folder / "licenses", installed->folder}
                                        : license_folders(spec.source_root, files);
  folders.push_back(spec.spec_root);
  return find_license_files(folders, files);
}

// The sources say which version they are, where pack.yaml says how.
Result<Version> find_version(const PackSpec& spec, const FileReader& files) {
  if (spec.version_file.empty()) return spec.version;
  if (const auto version = first_line_version(files, spec.source_root / spec.version_file)) return *version;
  if (const auto installed = installed_facts(files, spec)) return installed->version;
  return fail(
      Exit::usage, "missing_source", spec.root_origin, "the version of the sources is not to be found",
      "Looked for " + (spec.source_root / spec.version_file).string() +
          (spec.package.empty() ? "" : " and " + spec.package + "-<version>.dist-info next to it") + ".");
}

Result<Path> find_source_root(const PackSpec& spec, const Setting<std::string>& python,
                              const System& system) {
  if (!spec.package.empty() && !spec.is_given) return find_package(spec, python, system);
  Path root = tidy(system.files, spec.source_root);
  if (system.files.kind(root) != FileKind::directory) {
    return fail(Exit::usage, "missing_source", spec.root_origin, "the source root is not a folder",
                "Looked for " + root.string() + ". --source DIR names another.");
  }
  return spec.package.empty() ? root : root_of_package(spec, root, system.files);
}

}  // namespace

std::vector<std::string> known_packs(const FileReader& files, const Path& data_dir) {
  std::vector<std::string> packs;
  for (const std::string& name : names_in(files, data_dir / "ops")) {
    if (files.kind(data_dir / "ops" / name) == FileKind::directory) packs.push_back(name);
  }
  return packs;
}

Result<Pack> load_pack(const Settings& settings, const System& system) {
  const FileReader& files = system.files;
  DSBUILD_TRY(folder, find_pack(settings, files));
  PackSpec spec{{tidy(files, folder.path).filename().string(), folder.path, folder.path, {}, folder.shown},
                folder.shown,
                {},
                {},
                false};
  if (files.kind(folder.path / "pack.yaml") == FileKind::file) {
    DSBUILD_TRY(text, files.read_file(folder.path / "pack.yaml"));
    DSBUILD_TRY(parsed, parse_pack(text, make_source_tree(files, folder.path, {}), spec));
    spec = std::move(parsed);
  }
  if (!settings.source.is_default()) {
    spec.source_root = settings.source.value;
    spec.root_origin = settings.source.origin;
    spec.is_given = true;
  }
  DSBUILD_TRY(root, find_source_root(spec, settings.python, system));
  spec.source_root = std::move(root);
  DSBUILD_TRY(version, find_version(spec, files));
  spec.version = std::move(version);
  spec.license_files = license_files_of(spec, files);
  return spec;
}

}  // namespace dsbuild
