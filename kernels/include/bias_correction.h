// 1 - beta^step, of which host and device work out the same bits.
#pragma once

#include <cstdint>

#include "host_device.h"

namespace dsbuild::ops {

// Never fused with an addition behind it, whatever the compiler may do elsewhere.
DSBUILD_HOST_DEVICE inline double rounded_product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
#ifdef __HIP__
#pragma clang fp contract(off)
#endif
  return a * b;
#endif
}

// By squaring: products round alike everywhere, while the last bits of std::pow differ between libraries. For
// betas up to 0.999999 the correction is off by no more than 1e-9 of itself, far below the last bit of a
// float.
DSBUILD_HOST_DEVICE inline double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = rounded_product(result, base);
    base = rounded_product(base, base);
  }
  return result;
}

DSBUILD_HOST_DEVICE inline double bias_correction(double beta, int64_t step) {
  return 1 - power(beta, step);
}

}  // namespace dsbuild::ops
