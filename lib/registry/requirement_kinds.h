// The kinds of requirements that an op.yaml may name: one row each. Their probes are in
// lib/requirements/probes.cpp.
#pragma once

#include <vector>

#include "registry/op_spec.h"

namespace dsbuild {

struct RequirementKindRow {
  RequirementKind kind;
  const char* key;   // in op.yaml: "tvm_ffi"; "": it has no entry there
  const char* text;  // in messages: "tvm-ffi"
  std::string (*refuse)(
      const std::string& subject);  // why a subject is invalid; null: the value is a version range
};

const std::vector<RequirementKindRow>& requirement_kinds();
const RequirementKindRow& kind_row(RequirementKind kind);

}  // namespace dsbuild
