#include <algorithm>

#include "evoformer_attn.h"

namespace dsbuild::ops {

std::vector<const EvoformerFamily*> evoformer_families() {
  std::vector<const EvoformerFamily*> families;
  for (const auto family : {evoformer_family_80, evoformer_family_75, evoformer_family_70}) {
    if (family != nullptr) families.push_back(&family());
  }
  return families;
}

bool evoformer_family_runs(const EvoformerFamily& family) {
  cudaFuncAttributes image{};
  if (family.attributes(&image) != cudaSuccess) {
    cudaGetLastError();  // the runtime would tell it once more after the next launch
    return false;
  }
  return std::min(image.binaryVersion, image.ptxVersion) >= family.version;
}

}  // namespace dsbuild::ops
