// The kinds of edges. A new kind is one row.
#pragma once

#include <vector>

namespace dsbuild {

// cuda_link: links the device code of an op with -rdc=true. hipify: translates an op's CUDA sources to HIP.
// hip_compile: compiles a HIP source, or its host code; hip_slice: compiles it for one target; hip_bundle:
// makes one object of the slices. sycl_compile: compiles a SYCL source; sycl_link: links an op's device code.
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

// How dsbuild runs an edge; it decides the words of its action. compile: a source to an object. link: links
// objects, which are listed in a file. slice: one of nvcc's own steps.
enum class EdgeForm { compile, slice, bundle, hipify, link, verify, comparison };

struct EdgeKindRow {
  EdgeKind kind;
  const char* word;  // "cuda_slice": its rule in build.ninja
  const char* verb;  // "compile": in the progress
  const char* tool;  // the tool that it runs, one of k_nvcc_tool … (base/build_layout.h); "": none
  EdgeForm form;
};

const std::vector<EdgeKindRow>& edge_kinds();
const EdgeKindRow& kind_row(EdgeKind kind);

}  // namespace dsbuild
