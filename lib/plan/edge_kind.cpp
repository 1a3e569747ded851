#include "plan/edge_kind.h"

#include <algorithm>

#include "base/build_layout.h"

namespace dsbuild {

const std::vector<EdgeKindRow>& edge_kinds() {
  using Kind = EdgeKind;
  using Form = EdgeForm;
  static const std::vector<EdgeKindRow> rows = {
      {Kind::cuda_compile, "cuda_compile", "compile", k_nvcc_tool, Form::compile},
      {Kind::cuda_slice, "cuda_slice", "compile", k_nvcc_tool, Form::slice},
      {Kind::cuda_link, "cuda_link", "link", k_nvcc_tool, Form::link},
      {Kind::hip_compile, "hip_compile", "compile", k_hip_tool, Form::compile},
      {Kind::hip_slice, "hip_slice", "compile", k_hip_tool, Form::compile},
      {Kind::hip_bundle, "hip_bundle", "bundle", k_hip_tool, Form::bundle},
      {Kind::hipify, "hipify", "hipify", k_hipify_tool, Form::hipify},
      {Kind::sycl_compile, "sycl_compile", "compile", k_icpx_tool, Form::compile},
      {Kind::sycl_link, "sycl_link", "link", k_icpx_tool, Form::link},
      {Kind::cxx_compile, "cxx_compile", "compile", k_cxx_tool, Form::compile},
      {Kind::comparison, "comparison", "compare", k_nvcc_tool, Form::comparison},
      {Kind::verify, "verify", "verify", "", Form::verify},
      {Kind::link, "link", "link", k_cxx_tool, Form::link}};
  return rows;
}

const EdgeKindRow& kind_row(EdgeKind kind) {
  return *std::ranges::find(edge_kinds(), kind, &EdgeKindRow::kind);
}

}  // namespace dsbuild
