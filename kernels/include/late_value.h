// Numbers of a call that may be known only when the work runs: then they lie in a tensor, and a kernel in a
// CUDA graph sees at each replay what stands there.
#pragma once

#include <cstdint>

#include "host_device.h"

namespace dsbuild::ops {

struct LateNumber {
  double number;
  const float* place;  // null: `number` holds

  DSBUILD_HOST_DEVICE bool late() const { return place != nullptr; }
  DSBUILD_HOST_DEVICE double value() const { return late() ? static_cast<double>(*place) : number; }
};

enum class IntegerType { int64, int32, float32 };

struct LateInteger {
  int64_t number;
  const void* place;  // null: `number` holds
  IntegerType type;

  DSBUILD_HOST_DEVICE bool late() const { return place != nullptr; }
  DSBUILD_HOST_DEVICE int64_t value() const {
    if (!late()) return number;
    if (type == IntegerType::int64) return *static_cast<const int64_t*>(place);
    if (type == IntegerType::int32) return *static_cast<const int32_t*>(place);
    return integer_of(*static_cast<const float*>(place));
  }

 private:
  // 0 for what is not a number from 1 to 2^62: a cast of it has no defined value.
  DSBUILD_HOST_DEVICE static int64_t integer_of(float number) {
    return number >= 1 && number < 4611686018427387904.0f ? static_cast<int64_t>(number) : 0;
  }
};

}  // namespace dsbuild::ops
