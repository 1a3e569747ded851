// op.yaml -> OpSpec, key by key in the order of docs/reference/op_yaml.md.
#include <algorithm>
#include <set>

#include "registry/registry.h"
#include "registry/spec_reader.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

const std::vector<std::string> k_keys = {
    "name",         "build_var", "module",      "module_suffix", "description", "when",
    "backend",      "backends",  "unsupported", "archs",         "needs",       "sources",
    "include_dirs", "defines",   "std",         "flags",         "libraries",   "undefined_symbols",
    "requires",     "exports"};

std::string refuse_description(const std::string& text) {
  const bool plain = printable(text) == text && text.find('\n') == std::string::npos;
  return plain ? "" : "is not one line of plain text";
}

std::string refuse_module_suffix(const std::string& word) {
  return word == ".so" || word == ".abi3.so" ? "" : "is not a suffix of modules: .so, .abi3.so";
}

constexpr const char* k_undefined_symbols = "undefined_symbols";

std::string refuse_undefined_symbols(const std::string& word) {
  return word == "error" || word == "warn" ? "" : "is neither 'error' nor 'warn'";
}

Result<void> read_key(const SpecFile& file, const YamlNode& root, const char* key, const WordRule& rule,
                      std::string& into) {
  const YamlNode* node = root.find(key);
  if (!node) return {};
  DSBUILD_TRY(word, read_word(file, *node, std::string("'") + key + "'", rule));
  into = std::move(word);
  return {};
}

Result<void> read_names(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  Mistakes mistakes;
  if (!root.find("name")) mistakes.check(bad_spec(file, root, "the op has no 'name'"));
  const bool is_named = mistakes.check(read_key(file, root, "name", refuse_op_name, spec.name));
  spec.build_var = "DS_BUILD_" + to_upper(spec.name);
  const bool has_variable =
      mistakes.check(read_key(file, root, "build_var", refuse_build_var, spec.build_var));
  const std::string reason = refuse_build_var(spec.build_var);
  if (root.find("name") && is_named && has_variable && !reason.empty())
    mistakes.check(bad_spec(file, *root.find("name"), "the build variable '" + spec.build_var + "' " + reason,
                            "Give the op a 'build_var'."));
  mistakes.check(read_key(file, root, "module", refuse_module, spec.module));
  mistakes.check(read_key(file, root, "module_suffix", refuse_module_suffix, spec.module_suffix));
  if (!spec.module_suffix.empty() && !root.find("module"))
    mistakes.check(bad_spec(file, *root.find("module_suffix"),
                            "'module_suffix' is of a module, and the op is none", "Name the 'module'."));
  mistakes.check(read_key(file, root, "description", refuse_description, spec.description));
  return mistakes.result();
}

// What there is the op for at all. What the machine may lack is `requires`.
Result<void> read_op_when(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* node = root.find("when");
  if (!node) return {};
  DSBUILD_TRY(when, read_when(file, *node));
  for (const YamlNode& each : node->is_sequence() ? node->items : std::vector<YamlNode>{*node})
    DSBUILD_CHECK(check_map(file, each, "'when' of an op", {"source", "torch", "accelerator"}));
  spec.when = std::move(when);
  return {};
}

// `backend` is the op's own, what it is where nothing else is asked for; `backends` all that it can be built
// for.
Result<void> read_backend_keys(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* own = root.find("backend");
  if (own) {
    DSBUILD_TRY(word, read_word(file, *own, "'backend'", refuse_backend));
    spec.backend = find_backend_kind(word)->kind;
    spec.backends = {spec.backend};
  }
  const YamlNode* all = root.find("backends");
  if (!all) return {};
  DSBUILD_TRY(backends, read_backends(file, *all, "'backends'"));
  const auto has = [&](BackendKind kind) { return std::ranges::find(backends, kind) != backends.end(); };
  if (has(BackendKind::cpu) && backends.size() > 1)
    return bad_spec(file, *all, "'backends': cpu stands alone", "Make an op of its own for the CPU.");
  if (own && !has(spec.backend))
    return bad_spec(file, *all, std::string("'backends' lacks the op's own, ") + kind_row(spec.backend).key);
  if (!own) spec.backend = backends.front();
  spec.backends = std::move(backends);
  return {};
}

// {hip: "it is made of CUTLASS"}
Result<void> read_unsupported(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* node = root.find("unsupported");
  if (!node) return {};
  if (!node->is_map()) return bad_spec(file, *node, "'unsupported' takes a map of backends to reasons");
  for (const auto& [key, value] : node->entries) {
    DSBUILD_TRY(word, read_word(file, key, "'unsupported'", refuse_backend));
    const BackendKindRow& row = *find_backend_kind(word);
    if (!row.vendor) return bad_spec(file, key, "'unsupported': cpu has no GPUs that could be asked for");
    if (std::ranges::count(spec.backends, row.kind) > 0)
      return bad_spec(file, key, "'unsupported': the op is for " + word, "Keep one of them.");
    DSBUILD_TRY(reason, read_word(file, value, "'unsupported." + word + "'", refuse_description));
    spec.unsupported[row.kind] = std::move(reason);
  }
  return {};
}

// Lists whose order means nothing are kept sorted.
Result<TextEntries> read_sorted(const SpecFile& file, const YamlNode& root, const char* key,
                                const WordRule& rule) {
  const YamlNode* node = root.find(key);
  if (!node) return TextEntries{};
  DSBUILD_TRY(entries, read_entries(file, *node, std::string("'") + key + "'", rule));
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.value < b.value; });
  return entries;
}

Result<void> read_op_sources(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* node = root.find("sources");
  if (!node) return bad_spec(file, root, "the op has no 'sources'");
  DSBUILD_TRY(sources, read_sources(file, *node, spec));
  spec.sources = std::move(sources);
  return {};
}

// Takes `for` out of an entry {value: DIR, for: LANGUAGE}.
Result<void> take_include_language(const SpecFile& file, YamlNode& entry, OpSpec& spec) {
  const YamlNode *language = entry.is_map() ? entry.find("for") : nullptr, *value = entry.find("value");
  if (!language || !value) return {};
  DSBUILD_TRY(word, read_word(file, *language, "'include_dirs.for'", refuse_folder_language));
  spec.include_languages[value->scalar] = std::move(word);
  std::erase_if(entry.entries, [](const YamlNode::Entry& each) { return each.key.scalar == "for"; });
  return {};
}

Result<void> read_include_dirs(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* given = root.find("include_dirs");
  if (!given) return {};
  YamlNode node = *given;
  for (YamlNode& entry : node.items)
    DSBUILD_CHECK(take_include_language(file, entry, spec));
  DSBUILD_TRY(dirs, read_entries(file, node, "'include_dirs'", refuse_include_dir));
  DSBUILD_CHECK(check_include_dirs(file, node, dirs));
  spec.include_dirs = std::move(dirs);
  return {};
}

using Define = Entry<std::pair<std::string, std::string>>;

std::string refuse_feature(const std::string& word) {
  return refuse_op_name(word).empty() ? "" : "is not a name of a feature (a lower-case word, as bf16)";
}

// What a define stands for, where users want to know that it is not set.
Result<void> read_feature(const SpecFile& file, const YamlNode& key, const YamlNode& node, OpSpec& spec) {
  const YamlNode* feature = node.is_map() ? node.find("feature") : nullptr;
  if (!feature) return {};
  if (!node.find("when")) return bad_spec(file, *feature, "a 'feature' without 'when' is always there");
  DSBUILD_TRY(word, read_word(file, *feature, "'feature'", refuse_feature));
  spec.features[key.scalar] = std::move(word);
  return {};
}

Result<Define> read_define(const SpecFile& file, const YamlNode& key, const YamlNode& node) {
  const std::string owner = "'defines." + printable(key.scalar) + "'";
  if (const std::string reason = refuse_identifier(key.scalar); !reason.empty()) {
    return bad_spec(file, key, "'defines': '" + printable(key.scalar) + "' " + reason);
  }
  Define define{{key.scalar, ""}, {}, origin_of(file, key)};
  const YamlNode* value = &node;
  if (node.is_map()) {
    DSBUILD_CHECK(check_map(file, node, owner, {"value", "when", "feature"}));
    DSBUILD_TRY(when, read_when_of(file, node));
    define.when = std::move(when);
    value = node.find("value");
  }
  if (!value || value->kind == YamlNode::Kind::null) return define;
  DSBUILD_TRY(word, read_word(file, *value, owner, refuse_define_value));
  define.value.second = std::move(word);
  return define;
}

bool defines_by_name(const Define& a, const Define& b) {
  return a.value.first < b.value.first;
}

Result<void> read_defines(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* node = root.find("defines");
  if (!node) return {};
  if (!node->is_map()) return bad_spec(file, *node, "'defines' takes a map of names to values");
  Mistakes mistakes;
  for (const auto& [key, value] : node->entries) {
    Define define;
    if (mistakes.take(read_define(file, key, value), define)) spec.defines.push_back(std::move(define));
    mistakes.check(read_feature(file, key, value, spec));
  }
  std::sort(spec.defines.begin(), spec.defines.end(), defines_by_name);
  return mistakes.result();
}

Result<void> check_defines(const OpSpec& spec) {
  std::set<std::string> names;
  for (const Define& define : spec.defines)
    names.insert(define.value.first);
  for (const SourceSpec& source : spec.sources) {
    for (const auto& [name, value] : source.defines) {
      if (names.count(name) == 0) continue;
      return fail(Exit::usage, "bad_spec", source.origin.text,
                  "'" + name + "' is set by 'for' and by 'defines'", "Keep one of them.");
    }
  }
  return {};
}

Result<void> read_standard(const SpecFile& file, const YamlNode& std_node, const std::string& key,
                           const std::vector<std::string>& known, std::optional<int>& into) {
  const YamlNode* node = std_node.find(key);
  if (!node) return {};
  const auto rule = [&](const std::string& word) -> std::string {
    if (std::find(known.begin(), known.end(), word) != known.end()) return "";
    return "is not a C++ standard here; choose " + join(known, ", ");
  };
  DSBUILD_TRY(word, read_word(file, *node, "'std." + key + "'", rule));
  into = std::stoi(word);
  return {};
}

Result<void> read_std(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* node = root.find("std");
  if (!node) return {};
  Mistakes mistakes;
  mistakes.check(check_map(file, *node, "'std'", {"cxx", "nvcc", "hip", "sycl"}));
  mistakes.check(read_standard(file, *node, "cxx", {"14", "17", "20", "23"}, spec.std_cxx));
  mistakes.check(read_standard(file, *node, "hip", {"14", "17", "20", "23"}, spec.std_hip));
  mistakes.check(read_standard(file, *node, "sycl", {"17", "20", "23"}, spec.std_sycl));
  mistakes.check(read_standard(file, *node, "nvcc", {"14", "17", "20"}, spec.std_nvcc));
  return mistakes.result();
}

// A native op's link takes none.
Result<void> read_undefined_symbols(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  const YamlNode* node = root.find(k_undefined_symbols);
  if (node && !root.find("module"))
    return bad_spec(file, *node, "'undefined_symbols' is of a module, and the op is none",
                    "Name the 'module'.");
  std::string word;
  DSBUILD_CHECK(read_key(file, root, k_undefined_symbols, refuse_undefined_symbols, word));
  spec.warns_of_undefined_symbols = word == "warn";
  return {};
}

Result<void> read_build_keys(const SpecFile& file, const YamlNode& root, OpSpec& spec) {
  Mistakes mistakes;
  mistakes.check(read_include_dirs(file, root, spec));
  mistakes.check(read_defines(file, root, spec));
  mistakes.check(check_defines(spec));
  mistakes.check(read_std(file, root, spec));
  if (const YamlNode* node = root.find("flags")) mistakes.take(read_flags(file, *node), spec.flags);
  if (const YamlNode* node = root.find("libraries"))
    mistakes.take(read_entries(file, *node, "'libraries'", refuse_library), spec.libraries);
  mistakes.check(read_undefined_symbols(file, root, spec));
  return mistakes.result();
}

// A device link takes the code of each arch from all of the objects.
Result<void> check_device_link(const SpecFile& file, const YamlNode& root, const OpSpec& spec) {
  if (!makes_device_link(spec)) return {};
  for (const SourceSpec& source : spec.sources)
    if (!source.archs.empty())
      return bad_spec(file, *root.find("flags"),
                      "'-rdc=true' links all sources for the same archs, and " + source.path + " has its own",
                      "Give the op the archs, or make two ops.");
  return {};
}

}  // namespace

Result<OpSpec> read_op_spec(const YamlNode& root, const SpecFile& file, const Path& path) {
  DSBUILD_CHECK(check_is_map(file, root, "the op spec"));
  Mistakes mistakes;
  const bool are_keys_known = mistakes.check(check_map(file, root, "the op spec", k_keys));
  OpSpec spec;
  spec.file = path;
  // What is not there may be what an unknown key was meant to be.
  if (root.find("name") || are_keys_known) mistakes.check(read_names(file, root, spec));
  mistakes.check(read_op_when(file, root, spec));
  if (!is_of_version(spec.when, file.tree.version)) {
    DSBUILD_CHECK(mistakes.result());
    return spec;
  }
  const bool has_backend = mistakes.check(read_backend_keys(file, root, spec));
  if (has_backend) {
    mistakes.check(read_unsupported(file, root, spec));
    mistakes.take(read_arch_filters(file, root, spec.backend, spec.backends), spec.archs_of);
  }
  mistakes.take(read_sorted(file, root, "needs", refuse_op_name), spec.needs);
  // What a source may say depends on the backends.
  if (has_backend && (root.find("sources") || are_keys_known))
    mistakes.check(read_op_sources(file, root, spec));
  mistakes.check(read_build_keys(file, root, spec));
  if (mistakes.none()) mistakes.check(check_device_link(file, root, spec));
  if (const YamlNode* node = root.find("requires"))
    mistakes.take(read_requirements(file, *node), spec.requires_);
  mistakes.take(read_sorted(file, root, "exports", refuse_identifier), spec.exports);
  DSBUILD_CHECK(mistakes.result());
  const BackendKind own = spec.backend;
  return for_backend(std::move(spec), own);
}

Result<OpSpec> parse_op_spec(std::string_view text, const Path& file, const FileReader& files,
                             const Path& source_root) {
  const SourceTree tree = make_source_tree(files, source_root, Version{});
  DSBUILD_TRY(root, parse_yaml(text, file.string()));
  return read_op_spec(root, SpecFile{file.string(), tree}, file);
}

}  // namespace dsbuild
