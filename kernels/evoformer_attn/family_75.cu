#include "family_launches.cuh"
#include "sm75.cuh"

namespace dsbuild::ops {

const EvoformerFamily& evoformer_family_75() {
  static constexpr EvoformerFamily family = family_of<Sm75>();
  return family;
}

}  // namespace dsbuild::ops
