// 16 elements at a time; built with -mavx512f, so nothing here may run before the CPU was asked.
#include <immintrin.h>

#include "adam_vector.h"

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
  static Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
  static Reg div(Reg a, Reg b) { return _mm512_div_ps(a, b); }
  static Reg sqrt(Reg a) { return _mm512_sqrt_ps(a); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static Reg fused_mul_sub(Reg a, Reg b, Reg c) { return _mm512_fmsub_ps(a, b, c); }

 private:
  static __m256i load_words(const uint16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
};

}  // namespace

void adam_step_avx512(const AdamCoefficients& coefficients, const AdamRun& run, FloatType grad_type) {
  step_vectors_then_scalar<Avx512>(coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
