#include "family_launches.cuh"
#include "sm80.cuh"

namespace dsbuild::ops {

const EvoformerFamily& evoformer_family_80() {
  static constexpr EvoformerFamily family = family_of<Sm80>();
  return family;
}

}  // namespace dsbuild::ops
