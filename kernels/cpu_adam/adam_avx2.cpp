// 8 elements at a time; built with -mavx2 -mfma -mf16c, so nothing here may run before the CPU was asked.
#include <immintrin.h>

#include "adam_vector.h"

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
  static Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
  static Reg div(Reg a, Reg b) { return _mm256_div_ps(a, b); }
  static Reg sqrt(Reg a) { return _mm256_sqrt_ps(a); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static Reg fused_mul_sub(Reg a, Reg b, Reg c) { return _mm256_fmsub_ps(a, b, c); }

 private:
  static __m128i load_words(const uint16_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
};

}  // namespace

void adam_step_avx2(const AdamCoefficients& coefficients, const AdamRun& run, FloatType grad_type) {
  step_vectors_then_scalar<Avx2>(coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
