// 8 elements at a time, a `Vector` of cpu_loop.h; for sources built with -mavx2 -mfma -mf16c, whose code may
// not run before the CPU was asked.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace dsbuild::ops {
namespace {

struct Avx2 {
  using Reg = __m256;
  static constexpr size_t width = 8;
  static Reg all(float x) { return _mm256_set1_ps(x); }
  static Reg load(const float* from) { return _mm256_loadu_ps(from); }
  static Reg load_float16(const uint16_t* from) { return _mm256_cvtph_ps(load_words(from)); }
  static Reg load_bfloat16(const uint16_t* from) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_words(from)), 16));
  }
  static void store(float* to, Reg x) { _mm256_storeu_ps(to, x); }
  static Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
  static Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
  static Reg div(Reg a, Reg b) { return _mm256_div_ps(a, b); }
  static Reg sqrt(Reg a) { return _mm256_sqrt_ps(a); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static Reg fused_mul_sub(Reg a, Reg b, Reg c) { return _mm256_fmsub_ps(a, b, c); }
  // size * sign(x); what has no sign, zeros and NaN, stays itself.
  static Reg with_sign(Reg size, Reg x) {
    const Reg signed_size = _mm256_xor_ps(size, _mm256_and_ps(x, _mm256_set1_ps(-0.0f)));
    return _mm256_blendv_ps(x, signed_size, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_OQ));
  }

 private:
  static __m128i load_words(const uint16_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
};

}  // namespace
}  // namespace dsbuild::ops
