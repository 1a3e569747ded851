#include "family_launches.cuh"
#include "sm70.cuh"

namespace dsbuild::ops {

const EvoformerFamily& evoformer_family_70() {
  static constexpr EvoformerFamily family = family_of<Sm70>();
  return family;
}

}  // namespace dsbuild::ops
