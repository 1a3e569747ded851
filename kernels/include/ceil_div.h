// How many pieces of `size` hold `count` things.
#pragma once

#include <cstdint>

namespace dsbuild::ops {

constexpr int64_t ceil_div(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

}  // namespace dsbuild::ops
