// What edges of the graph do. A new kind is one row.
#pragma once

#include <vector>

namespace dsbuild {

// cuda_link: the device code of all that an op with -rdc=true has. hipify: an op's CUDA sources as HIP.
// hip_compile: all of a HIP source, or its host code; hip_slice: its code for one target; hip_bundle: the
// object of those. sycl_compile: a source of SYCL's; sycl_link: the device code of all that an op has.
enum class EdgeKind {
  cuda_compile,
  cuda_slice,
  cuda_link,
  hip_compile,
  hip_slice,
  hip_bundle,
  hipify,
  sycl_compile,
  sycl_link,
  cxx_compile,
  link,
  verify,
  comparison
};

// How dsbuild runs an edge, and so which words its action has. compile: a source to an object; link: objects,
// listed in a file, to one; slice: one of nvcc's own steps.
enum class EdgeForm { compile, slice, bundle, hipify, link, verify, comparison };

struct EdgeKindRow {
  EdgeKind kind;
  const char* word;  // "cuda_slice": its rule in build.ninja
  const char* verb;  // "compile": for who watches
  const char* tool;  // that it runs, one of k_nvcc_tool … (base/build_layout.h); "": none
  EdgeForm form;
};

const std::vector<EdgeKindRow>& edge_kinds();
const EdgeKindRow& kind_row(EdgeKind kind);

}  // namespace dsbuild
