// What an op may be written for: one row each. How it is built stands in lib/plan/backends.cpp.
#pragma once

#include <vector>

#include "arch/vendor.h"
#include "registry/op_spec.h"
#include "toolkit/toolkit_set.h"

namespace dsbuild {

struct BackendKindRow {
  BackendKind kind;
  const char* key;            // in op.yaml: "cuda"
  const Vendor& (*vendor)();  // of the GPUs that its device code is for; null: it has none
  bool is_built;              // by this version; else it is read and left out
};

const std::vector<BackendKindRow>& backend_kinds();
const BackendKindRow& kind_row(BackendKind kind);
const BackendKindRow* find_backend_kind(const std::string& key);  // nullptr: there is none
std::string refuse_backend(const std::string& word);              // a rule for a word (spec_reader.h)

const Vendor* vendor_of(BackendKind kind);
// Whose GPUs an op is for; nullptr: it has no device code.
const Vendor* vendor_of(const OpSpec& spec);
// Whether all archs that are asked for are of other vendors' GPUs than the op is for.
bool is_for_others(const OpSpec& spec, const ArchSet& asked);

// And why: what the op says of their backends, else that it is for its own alone.
std::string why_for_others(const OpSpec& spec, const ArchSet& asked);

// The toolkit that builds an op and that its conditions ask about: CUDA's, where the op has no device code.
const Toolkit* toolkit_of(const ToolkitSet& toolkits, const OpSpec& spec);

}  // namespace dsbuild
