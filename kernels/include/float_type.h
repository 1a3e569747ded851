// The floating-point types that ops take, between a binding and its kernels.
#pragma once

namespace dsbuild::ops {

enum class FloatType { float32, float16, bfloat16 };

}  // namespace dsbuild::ops
