// `sources:` -> one SourceSpec per translation unit: globs and `for` are expanded here.
#include <algorithm>
#include <map>

#include "registry/backend_kinds.h"
#include "registry/registry.h"
#include "registry/source_files.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

constexpr size_t k_most_combinations = 4096;
constexpr size_t k_most_units = 16384;

using Macro = std::pair<std::string, std::string>;
using Combination = std::vector<Macro>;

std::string refuse_source(const std::string& path) {
  if (std::string reason = refuse_path(path); !reason.empty()) return reason;
  const std::vector<std::string> known = {".cu", ".hip", ".sycl", ".cpp", ".cc", ".cxx"};
  const bool is_known = std::ranges::find(known, Path(path).extension().string()) != known.end();
  return is_known ? "" : "is not a source file (" + join(known, ", ") + ")";
}

Result<std::vector<std::string>> read_axis(const SpecFile& file, const YamlNode& key,
                                           const YamlNode& values) {
  const std::string owner = "'for." + printable(key.scalar) + "'";
  if (const std::string reason = refuse_identifier(key.scalar); !reason.empty()) {
    return bad_spec(file, key, "'for': '" + printable(key.scalar) + "' " + reason);
  }
  DSBUILD_TRY(words, read_words(file, values, owner, refuse_define_value));
  if (words.empty()) return bad_spec(file, values, owner + " has no values");
  return words;
}

std::vector<Combination> with_axis(const std::vector<Combination>& so_far, const std::string& name,
                                   const std::vector<std::string>& values) {
  std::vector<Combination> product;
  for (const Combination& combination : so_far) {
    for (const std::string& value : values) {
      product.push_back(combination);
      product.back().emplace_back(name, value);
    }
  }
  return product;
}

// `for: {A: [1, 2], B: [x]}` -> {A=1 B=x}, {A=2 B=x}; keys in their sorted order.
Result<std::vector<Combination>> read_combinations(const SpecFile& file, const YamlNode* node) {
  std::vector<Combination> product = {{}};
  if (!node) return product;
  if (!node->is_map() || node->entries.empty()) {
    return bad_spec(file, *node, "'for' takes a map of define names to lists of values");
  }
  std::map<std::string, std::vector<std::string>> axes;
  for (const auto& [key, values] : node->entries) {
    DSBUILD_TRY(axis, read_axis(file, key, values));
    axes[key.scalar] = std::move(axis);
  }
  for (const auto& [name, values] : axes) {
    if (product.size() * values.size() > k_most_combinations) {
      return bad_spec(file, *node,
                      "'for' makes over " + std::to_string(k_most_combinations) + " combinations");
    }
    product = with_axis(product, name, values);
  }
  return product;
}

// Sources of another version are not looked for.
bool is_of_this_version(const SpecFile& file, const When& when) {
  return is_of_version(when, file.tree.version);
}

struct SourceFiles {
  const YamlNode* at;
  std::vector<std::string> paths;
};

// Each pattern must take something away, as a glob must match something.
Result<void> leave_out(const SpecFile& file, const YamlNode& exclude, std::vector<std::string>& paths) {
  DSBUILD_TRY(globs, read_words(file, exclude, "'exclude' of a glob", refuse_glob));
  for (size_t i = 0; i < globs.size(); ++i) {
    DSBUILD_TRY(excluded, expand_glob(file, exclude.items[i], globs[i]));
    const auto is_excluded = [&](const std::string& path) {
      return std::ranges::binary_search(excluded, path);
    };
    if (std::erase_if(paths, is_excluded) == 0)
      return bad_spec(file, exclude.items[i],
                      "'exclude': '" + globs[i] + "' matches none of the files that are left of 'glob'");
  }
  if (paths.empty()) return bad_spec(file, exclude, "'exclude' leaves no file of 'glob'");
  return {};
}

Result<SourceFiles> read_glob(const SpecFile& file, const YamlNode& entry, const When& when) {
  const YamlNode& node = *entry.find("glob");
  DSBUILD_TRY(glob, read_word(file, node, "'glob'", refuse_glob));
  if (!is_of_this_version(file, when)) return SourceFiles{&node, {}};
  DSBUILD_TRY(paths, expand_glob(file, node, glob));
  if (const YamlNode* exclude = entry.find("exclude")) {
    DSBUILD_CHECK(leave_out(file, *exclude, paths));
  }
  for (const std::string& path : paths) {
    if (const std::string reason = refuse_source(path); !reason.empty()) {
      return bad_spec(file, node, "'glob': '" + printable(path) + "' " + reason);
    }
  }
  return SourceFiles{&node, std::move(paths)};
}

Result<SourceFiles> read_path(const SpecFile& file, const YamlNode& node) {
  DSBUILD_TRY(path, read_word(file, node, "'sources'", refuse_source));
  return SourceFiles{&node, {path}};
}

// The entry's files, by its `path` or its `glob`.
Result<SourceFiles> read_files(const SpecFile& file, const YamlNode& entry, const When& when) {
  if (entry.is_scalar()) return read_path(file, entry);
  const YamlNode* path = entry.find("path");
  const YamlNode* glob = entry.find("glob");
  if ((path == nullptr) == (glob == nullptr)) {
    return bad_spec(file, entry, "a source needs either 'path' or 'glob'");
  }
  if (path && entry.find("exclude"))
    return bad_spec(file, *entry.find("exclude"), "'exclude' goes with 'glob'");
  return path ? read_path(file, *path) : read_glob(file, entry, when);
}

std::string refuse_seconds(const std::string& word) {
  const int seconds = whole_number<int>(word).value_or(0);
  return seconds > 0 && seconds < 100'000 ? "" : "is not a whole number of seconds";
}

std::string refuse_threads(const std::string& word) {
  const int threads = whole_number<int>(word).value_or(0);
  return threads > 1 && threads <= 64 ? "" : "is not a number of threads from 2 to 64";
}

// Whose archs a source means that names no backend: the op's own, where it is in that one's build.
BackendKind own_backend(const SourceSpec& source, const OpSpec& op) {
  return source.is_for(op.backend) ? op.backend : source.backends.front();
}

// What the entry says of each of its files.
Result<SourceSpec> read_common(const SpecFile& file, const YamlNode& entry, const OpSpec& op) {
  SourceSpec common;
  common.origin = origin_of(file, entry);
  if (!entry.is_map()) return common;
  DSBUILD_TRY(when, read_when_of(file, entry));
  common.when = std::move(when);
  if (const YamlNode* node = entry.find("backend")) {
    DSBUILD_TRY(backends, read_backends(file, *node, "'backend' of a source"));
    common.backends = std::move(backends);
  }
  DSBUILD_TRY(filters, read_arch_filters(file, entry, own_backend(common, op), op.backends));
  common.archs_of = std::move(filters);
  if (const YamlNode* node = entry.find("flags")) {
    DSBUILD_TRY(flags, read_flags(file, *node));
    if (!flags.link.empty()) return bad_spec(file, *node, "'flags.link' belongs to the op, not to a source");
    if (std::ranges::any_of(flags.nvcc, is_for_device_link, &Entry<std::string>::value))
      return bad_spec(file, *node,
                      "'-rdc=true' belongs to the op, whose sources are linked, not to a source");
    common.flags = std::move(flags);
  }
  if (const YamlNode* node = entry.find("seconds")) {
    DSBUILD_TRY(word, read_word(file, *node, "'seconds'", refuse_seconds));
    common.seconds = whole_number<int>(word).value_or(0);
  }
  if (const YamlNode* node = entry.find("split_compile")) {
    DSBUILD_TRY(word, read_word(file, *node, "'split_compile'", refuse_threads));
    common.split_compile = whole_number<int>(word).value_or(1);
  }
  if (const YamlNode* node = entry.find("hipify")) {
    if (std::ranges::find(op.backends, BackendKind::hip) == op.backends.end())
      return bad_spec(file, *node, "'hipify' means nothing for an op that is not for hip",
                      "Set 'backends: [cuda, hip]' of the op.");
    DSBUILD_TRY(word, read_word(file, *node, "'hipify'", refuse_truth));
    common.hipify = word == "true";
  }
  return common;
}

bool has_device_code(const SourceSpec& source) {
  return std::ranges::any_of(backend_kinds(),
                             [&](const BackendKindRow& row) { return source.has_device_code(row.kind); });
}

// Each backend of the op that the source is for can compile it.
Result<void> check_backends(const SpecFile& file, const YamlNode& at, const SourceSpec& source,
                            const OpSpec& op) {
  for (const BackendKind kind : source.backends)
    if (std::ranges::find(op.backends, kind) == op.backends.end())
      return bad_spec(file, at, "'" + source.path + "' is for " + kind_row(kind).key + ", and the op is not",
                      std::string("Set 'backends' of the op, with ") + kind_row(kind).key + " in it.");
  if (!has_device_code(source)) return {};
  for (const BackendKind kind : op.backends) {
    if (!source.is_for(kind) || source.has_device_code(kind)) continue;
    const char* language = source.has_device_code(BackendKind::cuda)  ? "CUDA"
                           : source.has_device_code(BackendKind::hip) ? "HIP"
                                                                      : "SYCL";
    return bad_spec(
        file, at, "'" + source.path + "' is a " + language + " source of a " + kind_row(kind).key + " op",
        kind == BackendKind::cpu ? "Set 'backend: " + to_lower(language) + "', or leave the source out."
                                 : "Set 'backend' of the op, or of this source; or leave the source out.");
  }
  return {};
}

Result<void> check_source(const SpecFile& file, const YamlNode& at, const SourceSpec& source,
                          const OpSpec& op) {
  if (!source.archs_of.empty() && !has_device_code(source)) {
    return bad_spec(file, at, "'" + source.path + "' has no device code, so 'archs' means nothing for it");
  }
  return check_backends(file, at, source, op);
}

Result<std::vector<SourceSpec>> read_source(const SpecFile& file, const YamlNode& entry, const OpSpec& op) {
  Mistakes mistakes;
  if (!entry.is_scalar()) {
    const bool are_keys_known =
        mistakes.check(check_map(file, entry, "a source",
                                 {"path", "glob", "exclude", "backend", "archs", "flags", "for", "when",
                                  "seconds", "split_compile", "hipify"}));
    if (!entry.is_map() || (!are_keys_known && !entry.find("path") && !entry.find("glob")))
      return tl::unexpected<Error>(mistakes.result().error());
  }
  When when;
  SourceSpec common;
  SourceFiles files{&entry, {}};
  std::vector<Combination> combinations;
  const bool is_when_known = !entry.is_map() || mistakes.take(read_when_of(file, entry), when);
  mistakes.take(read_common(file, entry, op), common);
  if (is_when_known) mistakes.take(read_files(file, entry, when), files);
  mistakes.take(read_combinations(file, entry.is_map() ? entry.find("for") : nullptr), combinations);
  if (is_when_known && is_of_this_version(file, when))
    for (const std::string& path : files.paths)
      mistakes.check(check_on_disk(file, *files.at, path, FileKind::file));
  DSBUILD_CHECK(mistakes.result());
  std::vector<SourceSpec> sources;
  for (const std::string& path : files.paths) {
    SourceSpec source = common;
    source.path = path;
    DSBUILD_CHECK(check_source(file, *files.at, source, op));
    for (const Combination& combination : combinations) {
      sources.push_back(source);
      sources.back().defines = combination;
    }
  }
  return sources;
}

bool by_id(const SourceSpec& a, const SourceSpec& b) {
  return a.id() < b.id();
}

}  // namespace

Result<std::vector<SourceSpec>> read_sources(const SpecFile& file, const YamlNode& list, const OpSpec& op) {
  DSBUILD_CHECK(check_sequence(file, list, "'sources'"));
  std::map<std::string, Origin> seen;
  std::vector<SourceSpec> all;
  Mistakes mistakes;
  for (const YamlNode& entry : list.items) {
    std::vector<SourceSpec> sources;
    if (!mistakes.take(read_source(file, entry, op), sources)) continue;
    for (SourceSpec& source : sources) {
      const auto [twin, is_new] = seen.emplace(source.id(), source.origin);
      if (is_new)
        all.push_back(std::move(source));
      else
        mistakes.check(bad_spec(file, entry, "'sources': '" + source.id() + "' stands twice",
                                "The other is at " + twin->second.text + "."));
    }
    if (all.size() > k_most_units) {
      return bad_spec(file, entry,
                      "'sources' makes over " + std::to_string(k_most_units) + " translation units");
    }
  }
  DSBUILD_CHECK(mistakes.result());
  if (all.empty()) return bad_spec(file, list, "'sources' is empty");
  std::sort(all.begin(), all.end(), by_id);
  return all;
}

Result<void> check_include_dirs(const SpecFile& file, const YamlNode& list, const TextEntries& dirs) {
  for (size_t i = 0; i < dirs.size(); ++i) {
    if (!is_of_this_version(file, dirs[i].when)) continue;
    DSBUILD_CHECK(check_on_disk(file, list.items[i], dirs[i].value, FileKind::directory));
  }
  return {};
}

}  // namespace dsbuild
