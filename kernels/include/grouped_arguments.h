// The arguments that the ops of grouped quantisation share, read and checked.
#pragma once

#include "arguments.h"
#include "gpu.h"
#include "grouped_values.h"
#include "tensor_checks.h"

namespace dsbuild::ops {

inline int read_group_size(Arguments& arguments) {
  const int64_t size = arguments.integer("group_size");
  check_value(arguments, "group_size",
              size >= k_group_step && size <= k_max_group_size && size % k_group_step == 0,
              "a multiple of 8 between 8 and 8192");
  return static_cast<int>(size);
}

inline void check_per_group(const TensorArgument& tensor, int64_t count, int group_size) {
  check_dtype(tensor, {k_float32});
  const int64_t groups = (count + group_size - 1) / group_size;
  if (tensor.view.numel() == groups) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected " << groups << " elements (one per group of "
                            << group_size << "), got " << tensor.view.numel();
}

struct GroupedTensors {
  TensorArgument values, codes, scales;
  const TensorArgument* offsets;  // null for a codec without
};

// All but dtype and shape of the codes, which are the op's own.
inline GroupedValues checked_groups(const GroupedTensors& t, int group_size) {
  for (const TensorArgument* tensor : {&t.values, &t.codes, &t.scales, t.offsets}) {
    if (tensor == nullptr) continue;
    check_device_type(*tensor, k_gpu);
    check_same_device(*tensor, t.values.view.device());
    check_contiguous(*tensor);
  }
  const FloatType type = float_type(t.values);
  const int64_t count = t.values.view.numel();
  check_per_group(t.scales, count, group_size);
  if (t.offsets != nullptr) check_per_group(*t.offsets, count, group_size);
  return {elements<void>(t.values),
          type,
          elements<uint8_t>(t.codes),
          elements<float>(t.scales),
          t.offsets == nullptr ? nullptr : elements<float>(*t.offsets),
          count,
          group_size};
}

}  // namespace dsbuild::ops
