// One element at a time, for every CPU; a `Vector` of cpu_loop.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace dsbuild::ops {
namespace {

struct Scalar {
  using Reg = float;
  static constexpr size_t width = 1;
  static Reg all(float x) { return x; }
  static Reg load(const float* from) { return *from; }
  static Reg load_float16(const uint16_t* from) {
    const uint32_t sign = (*from & 0x8000u) << 16;
    const uint32_t magnitude = *from & 0x7fffu;
    if (magnitude >= 0x7c00u) return of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // As a float this is too small by the difference of the biases; the product is exact, subnormals too.
    const float rebias = of_bits((127u + 112u) << 23);
    return of_bits(sign | magnitude << 13) * rebias;
  }
  static Reg load_bfloat16(const uint16_t* from) { return of_bits(static_cast<uint32_t>(*from) << 16); }
  static void store(float* to, Reg x) { *to = x; }
  static Reg add(Reg a, Reg b) { return a + b; }
  static Reg sub(Reg a, Reg b) { return a - b; }
  static Reg mul(Reg a, Reg b) { return a * b; }
  static Reg div(Reg a, Reg b) { return a / b; }
  static Reg sqrt(Reg a) { return std::sqrt(a); }
  static Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
  static Reg fused_mul_sub(Reg a, Reg b, Reg c) { return a * b - c; }
  // size * sign(x); what has no sign, zeros and NaN, stays itself.
  static Reg with_sign(Reg size, Reg x) { return x > 0 ? size : x < 0 ? -size : x; }

 private:
  static float of_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

}  // namespace
}  // namespace dsbuild::ops
