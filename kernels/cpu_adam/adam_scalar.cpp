// The path of every CPU, and of what is left behind the last whole vector on the others.
#include <cmath>
#include <cstring>

#include "cpu_adam.h"

namespace dsbuild::ops {
namespace {

float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Float32 {
  using Storage = float;
  static float load(float value) { return value; }
};

struct Float16 {
  using Storage = uint16_t;
  static float load(uint16_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // As a float this is too small by the difference of the biases; the product is exact, subnormals too.
    const float rebias = float_of_bits((127u + 112u) << 23);
    return float_of_bits(sign | magnitude << 13) * rebias;
  }
};

struct Bfloat16 {
  using Storage = uint16_t;
  static float load(uint16_t bits) { return float_of_bits(static_cast<uint32_t>(bits) << 16); }
};

template <class Grad>
void step_all(const AdamCoefficients& c, const AdamRun& run) {
  const auto* grad = static_cast<const typename Grad::Storage*>(run.grad);
  for (size_t i = 0; i < run.count; ++i) {
    const float p = run.param[i];
    const float g = Grad::load(grad[i]) * c.grad_scale + c.l2 * p;
    const float m = c.beta1 * run.exp_avg[i] + c.one_minus_beta1 * g;
    const float v = c.beta2 * run.exp_avg_sq[i] + c.one_minus_beta2 * g * g;
    run.param[i] = p * c.decay - c.step_size * m / (std::sqrt(v) * c.v_scale + c.eps);
    run.exp_avg[i] = m;
    run.exp_avg_sq[i] = v;
  }
}

}  // namespace

void adam_step_scalar(const AdamCoefficients& coefficients, const AdamRun& run, FloatType grad_type) {
  switch (grad_type) {
    case FloatType::float32:
      step_all<Float32>(coefficients, run);
      break;
    case FloatType::float16:
      step_all<Float16>(coefficients, run);
      break;
    case FloatType::bfloat16:
      step_all<Bfloat16>(coefficients, run);
      break;
  }
}

}  // namespace dsbuild::ops
