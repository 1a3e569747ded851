// How a transfer is cut into blocks, each one request to the kernel.
#pragma once

#include <cstdint>
#include <vector>

namespace dsbuild::ops {

struct Block {
  int64_t begin;  // in the transfer
  int64_t length;
  bool direct;  // past the page cache: address, offset and length are multiples of the page size
};

// The page size: enough for every disk's sectors, and no page of the cache is shared between a direct block
// and a neighbour that goes through the cache.
int64_t direct_alignment();

// Blocks of at most `block_size`, a multiple of the alignment. With `direct`, whole aligned pages are direct
// if memory and file are aligned alike; what is before and behind them, less than a page each, is not.
std::vector<Block> cut_into_blocks(const void* data, int64_t offset, int64_t length, int64_t block_size,
                                   bool direct);

}  // namespace dsbuild::ops
