// What all ops of a pack say, and ops that stand in pack.yaml. Private to this stage.
#pragma once

#include "registry/spec_reader.h"

namespace dsbuild {

// `defaults:` of a pack: keys of op.yaml that may be the same for many ops. Nodes get the file's name, for
// they become part of specs in other files.
Result<YamlNode> read_defaults(const SpecFile& file, const YamlNode& pack);
// `ops:` of a pack, a map of names: each as its op.yaml would be.
Result<std::vector<YamlNode>> read_ops(const SpecFile& file, const YamlNode& pack);

// The op with what it does not say itself. Of lists (flags, include_dirs, …) the defaults stand first, maps
// are joined key by key, and of one word, and `archs`, the op's own counts.
YamlNode with_defaults(YamlNode op, const YamlNode& defaults);

}  // namespace dsbuild
