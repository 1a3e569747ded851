// Reads the defaults for all ops of a pack, and ops that are in pack.yaml. Private to this stage.
#pragma once

#include "registry/spec_reader.h"

namespace dsbuild {

// `defaults:` of a pack: keys of op.yaml that many ops share. Nodes get the file's name, because they become
// part of specs in other files.
Result<YamlNode> read_defaults(const SpecFile& file, const YamlNode& pack);
// `ops:` of a pack, a map of names: each as its op.yaml would be.
Result<std::vector<YamlNode>> read_ops(const SpecFile& file, const YamlNode& pack);

// Adds the defaults to an op. Lists (flags, include_dirs, …) begin with the defaults; maps are joined key by
// key. For single words and for `archs`, the op's own value overrides the default.
YamlNode with_defaults(YamlNode op, const YamlNode& defaults);

}  // namespace dsbuild
