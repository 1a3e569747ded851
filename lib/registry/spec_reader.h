// Reads op.yaml: strict keys, typed values, and the position in every error. After a mistake, all keys that
// do not depend on it are still read, so that one run reports all mistakes. Private to this stage.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/mistakes.h"
#include "base/result.h"
#include "base/yaml.h"
#include "registry/op_spec.h"
#include "sys/file_system.h"

namespace dsbuild {

// The tree that a spec's paths are relative to.
struct SourceTree {
  const FileReader& files;
  Path root;       // absolute
  Path real_root;  // without symbolic links; empty when it does not exist
  Version version;
};
SourceTree make_source_tree(const FileReader& files, const Path& root, const Version& version);

// The spec being read.
struct SpecFile {
  std::string shown;  // its name in messages
  const SourceTree& tree;
};

// A rule for a word: "" if allowed, else the reason, worded to follow "'<word>' ".
using WordRule = std::function<std::string(const std::string&)>;

tl::unexpected<Error> bad_spec(const SpecFile& file, const YamlNode& at, std::string what,
                               std::string fix = {});
Origin origin_of(const SpecFile& file, const YamlNode& node);

Result<void> check_is_map(const SpecFile& file, const YamlNode& node, const std::string& owner);
// The map may have only these keys.
Result<void> check_map(const SpecFile& file, const YamlNode& node, const std::string& owner,
                       const std::vector<std::string>& keys);
Result<void> check_sequence(const SpecFile& file, const YamlNode& node, const std::string& owner);
// A scalar that the rule allows. `owner` names the key in messages: "'libraries'".
Result<std::string> read_word(const SpecFile& file, const YamlNode& node, const std::string& owner,
                              const WordRule& rule);
Result<std::vector<std::string>> read_words(const SpecFile& file, const YamlNode& list,
                                            const std::string& owner, const WordRule& rule);
Result<VersionRange> read_range(const SpecFile& file, const YamlNode& node, const std::string& owner);

// The parts that several keys share.
using ArchFilters = std::map<BackendKind, ArchFilter>;
// `archs` of a map: one filter, which is the op's `own` backend's, or one for each backend that it names.
Result<ArchFilters> read_arch_filters(const SpecFile& file, const YamlNode& map, BackendKind own,
                                      const std::vector<BackendKind>& backends);
// A backend or a list of them; sorted.
Result<std::vector<BackendKind>> read_backends(const SpecFile& file, const YamlNode& node,
                                               const std::string& owner);
// A map of conditions, or a list of such maps.
Result<When> read_when(const SpecFile& file, const YamlNode& node);
// The `when` entry of a map, or one that always holds.
Result<When> read_when_of(const SpecFile& file, const YamlNode& map);
// A list whose entries are words, or {value: word, when: …}. No entry may stand twice.
Result<TextEntries> read_entries(const SpecFile& file, const YamlNode& list, const std::string& owner,
                                 const WordRule& rule);
Result<Flags> read_flags(const SpecFile& file, const YamlNode& node);

// The keys with files of their own.
// `op`: its backends are known.
Result<std::vector<SourceSpec>> read_sources(const SpecFile& file, const YamlNode& list, const OpSpec& op);
Result<void> check_include_dirs(const SpecFile& file, const YamlNode& list, const TextEntries& dirs);
Result<std::vector<Requirement>> read_requirements(const SpecFile& file, const YamlNode& list);

// parse_op_spec, once the tree is known and the text parsed; `path` becomes OpSpec::file.
Result<OpSpec> read_op_spec(const YamlNode& root, const SpecFile& file, const Path& path);

}  // namespace dsbuild
