#include "registry/requirement_kinds.h"

#include <algorithm>

#include "registry/spec_words.h"

namespace dsbuild {
const std::vector<RequirementKindRow>& requirement_kinds() {
  static const std::vector<RequirementKindRow> rows = {
      {RequirementKind::cuda, "cuda", "cuda", nullptr},
      {RequirementKind::header, "header", "header", refuse_path},
      {RequirementKind::library, "library", "library", refuse_library},
      {RequirementKind::folder, "folder", "folder", refuse_folder},
      {RequirementKind::command, "command", "command", refuse_command},
      {RequirementKind::cpu_feature, "cpu", "CPU feature", refuse_cpu_feature},
      {RequirementKind::module, "module", "Python module", refuse_module},
      {RequirementKind::tvm_ffi, "tvm_ffi", "tvm-ffi", nullptr},
      {RequirementKind::torch, "torch", "torch", nullptr},
      {RequirementKind::cutlass, "cutlass", "CUTLASS", nullptr},
      {RequirementKind::source, "source", "source", refuse_path},
      {RequirementKind::hipify, "", "torch's hipify", nullptr},
      {RequirementKind::wavefront, "", "wavefronts of one size", nullptr},
  };
  return rows;
}

const RequirementKindRow& kind_row(RequirementKind kind) {
  const auto& rows = requirement_kinds();
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const RequirementKindRow& row) { return row.kind == kind; });
}

const char* key_of(RequirementKind kind) {
  return kind_row(kind).key;
}

}  // namespace dsbuild
