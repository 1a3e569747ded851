// The backends for which an op may be written, one row each. lib/plan/backends.cpp builds them.
#pragma once

#include <vector>

#include "arch/vendor.h"
#include "registry/op_spec.h"
#include "toolkit/toolkit_set.h"

namespace dsbuild {

struct BackendKindRow {
  BackendKind kind;
  const char* key;            // in op.yaml: "cuda"
  const Vendor& (*vendor)();  // vendor of the GPUs for its device code; null: it has none
  bool is_built;              // whether this version of dsbuild builds it; if not, it is read and ignored
};

const std::vector<BackendKindRow>& backend_kinds();
const BackendKindRow& kind_row(BackendKind kind);
const BackendKindRow* find_backend_kind(const std::string& key);  // nullptr: there is none
std::string refuse_backend(const std::string& word);              // a rule for a word (spec_reader.h)

const Vendor* vendor_of(BackendKind kind);
// The vendor of an op's GPUs; nullptr: it has no device code.
const Vendor* vendor_of(const OpSpec& spec);
// Whether all requested archs are of vendors that the op is not for.
bool is_for_others(const OpSpec& spec, const ArchSet& asked);

// The reason: the op's own about their backends, else that it is only for its vendor.
std::string why_for_others(const OpSpec& spec, const ArchSet& asked);

// The toolkit that builds an op, and that its conditions are about. For an op without device code: CUDA's.
const Toolkit* toolkit_of(const ToolkitSet& toolkits, const OpSpec& spec);

}  // namespace dsbuild
