// 16 elements at a time, a `Vector` of cpu_loop.h; for sources built with -mavx512f, whose code may not run
// before the CPU was asked.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace dsbuild::ops {
namespace {

struct Avx512 {
  using Reg = __m512;
  static constexpr size_t width = 16;
  static Reg all(float x) { return _mm512_set1_ps(x); }
  static Reg load(const float* from) { return _mm512_loadu_ps(from); }
  static Reg load_float16(const uint16_t* from) { return _mm512_cvtph_ps(load_words(from)); }
  static Reg load_bfloat16(const uint16_t* from) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_words(from)), 16));
  }
  static void store(float* to, Reg x) { _mm512_storeu_ps(to, x); }
  static Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  static Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
  static Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
  static Reg div(Reg a, Reg b) { return _mm512_div_ps(a, b); }
  static Reg sqrt(Reg a) { return _mm512_sqrt_ps(a); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static Reg fused_mul_sub(Reg a, Reg b, Reg c) { return _mm512_fmsub_ps(a, b, c); }
  // size * sign(x); what has no sign, zeros and NaN, stays itself. By integers: those of floats are
  // AVX-512DQ's.
  static Reg with_sign(Reg size, Reg x) {
    const __m512i sign = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN));
    const Reg signed_size = _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(size), sign));
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_OQ), x, signed_size);
  }

 private:
  static __m256i load_words(const uint16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
};

}  // namespace
}  // namespace dsbuild::ops
