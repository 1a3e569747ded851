// Work over many tensors at once. A launch carries the addresses of up to `max` tensors in its arguments (so
// nothing is copied to the device first); each block finds its tensor by binary search.
//
// `Arrays` is a struct of the addresses of one tensor's arrays, and of their `count` of elements.
#pragma once

#include <cstdint>
#include <vector>

#include "host_device.h"

namespace dsbuild::ops {

constexpr int k_threads = 256;
constexpr int k_width = 4;  // elements per load
constexpr int k_rounds = 4;
constexpr int64_t k_block_elements = k_threads * k_width * k_rounds;
constexpr int k_max_tensors = 88;
constexpr int64_t k_max_blocks = 0x7fffffff;

DSBUILD_HOST_DEVICE inline int64_t blocks_of(int64_t count) {
  return (count + k_block_elements - 1) / k_block_elements;
}

template <class Arrays, int max = k_max_tensors>
struct TensorTable {
  Arrays tensors[max];
  uint32_t first_block[max];
  int count;
};

// The last t with first_block[t] <= block.
template <class Arrays, int max>
DSBUILD_HOST_DEVICE int find_tensor(const TensorTable<Arrays, max>& table, uint32_t block) {
  int low = 0;
  int high = table.count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (table.first_block[middle] <= block) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// What a block works on.
struct Part {
  int tensor;  // in its table
  int64_t begin;
  int64_t count;  // at most k_block_elements
};

template <class Arrays, int max>
DSBUILD_HOST_DEVICE Part part_of_block(const TensorTable<Arrays, max>& table, uint32_t block) {
  const int t = find_tensor(table, block);
  const int64_t begin = static_cast<int64_t>(block - table.first_block[t]) * k_block_elements;
  const int64_t left = table.tensors[t].count - begin;
  return {t, begin, left < k_block_elements ? left : k_block_elements};
}

// Can each tensor be worked on by one launch?
template <class Arrays>
bool blocks_fit(const std::vector<Arrays>& tensors) {
  for (const Arrays& tensor : tensors)
    if (blocks_of(tensor.count) > k_max_blocks) return false;
  return true;
}

// Calls launch(table, blocks) for one chunk of tensors after the other, until it returns an error: something
// else than a value made of nothing. Tensors without elements are left out. For tensors whose blocks_fit.
template <int max = k_max_tensors, class Arrays, class Launch>
auto for_each_table(const std::vector<Arrays>& tensors, const Launch& launch) {
  TensorTable<Arrays, max> table{};
  int64_t blocks = 0;
  using Error = decltype(launch(table, uint32_t{}));
  for (const Arrays& tensor : tensors) {
    const int64_t tensor_blocks = blocks_of(tensor.count);
    if (tensor_blocks == 0) continue;
    if (table.count == max || blocks + tensor_blocks > k_max_blocks) {
      const Error error = launch(table, static_cast<uint32_t>(blocks));
      if (error != Error{}) return error;
      table.count = 0;
      blocks = 0;
    }
    table.tensors[table.count] = tensor;
    table.first_block[table.count] = static_cast<uint32_t>(blocks);
    ++table.count;
    blocks += tensor_blocks;
  }
  return blocks == 0 ? Error{} : launch(table, static_cast<uint32_t>(blocks));
}

}  // namespace dsbuild::ops
