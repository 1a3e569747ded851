// The 8-bit float formats by name, between bindings and kernels.
#pragma once

namespace dsbuild::ops {

enum class Fp8Format { e4m3, e5m2 };

}  // namespace dsbuild::ops
