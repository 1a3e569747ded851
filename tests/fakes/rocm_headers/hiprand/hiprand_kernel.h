// hipRAND's device side, as DeepSpeed calls it: made up numbers, which compile.
#pragma once

#include <hip/hip_runtime.h>

#include "hiprand.h"

struct hiprandStatePhilox4_32_10_t {
  unsigned long long seed, sequence, offset;
};
__device__ inline void hiprand_init(unsigned long long seed, unsigned long long sequence,
                                    unsigned long long offset, hiprandStatePhilox4_32_10_t* state) {
  *state = {seed, sequence, offset};
}
__device__ inline float4 hiprand_uniform4(hiprandStatePhilox4_32_10_t* state) {
  float values[4];
  for (float& value : values) {
    const unsigned long long mixed =
        (state->seed + state->sequence) * 6364136223846793005ULL + ++state->offset;
    value = static_cast<float>(mixed >> 40) * 0x1p-24f;
  }
  return float4{values[0], values[1], values[2], values[3]};
}
__device__ inline unsigned hiprand_poisson(hiprandStatePhilox4_32_10_t* state, double mean) {
  return static_cast<unsigned>(hiprand_uniform4(state).x * mean);
}
