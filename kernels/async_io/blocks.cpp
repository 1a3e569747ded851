#include "blocks.h"

#include <unistd.h>

#include <algorithm>

namespace dsbuild::ops {
namespace {

void add_blocks(std::vector<Block>& blocks, int64_t begin, int64_t end, int64_t block_size, bool direct) {
  for (; begin < end; begin += block_size)
    blocks.push_back({begin, std::min(block_size, end - begin), direct});
}

}  // namespace

int64_t direct_alignment() {
  static const int64_t page = sysconf(_SC_PAGESIZE);
  return page;
}

std::vector<Block> cut_into_blocks(const void* data, int64_t offset, int64_t length, int64_t block_size,
                                   bool direct) {
  const int64_t page = direct_alignment();
  const int64_t into_page = offset % page;
  const bool alike = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % page) == into_page;
  const int64_t head = std::min(length, (page - into_page) % page);
  const int64_t body = direct && alike ? (length - head) / page * page : 0;
  std::vector<Block> blocks;
  if (body == 0) {
    add_blocks(blocks, 0, length, block_size, false);
    return blocks;
  }
  add_blocks(blocks, 0, head, block_size, false);
  add_blocks(blocks, head, head + body, block_size, true);
  add_blocks(blocks, head + body, length, block_size, false);
  return blocks;
}

}  // namespace dsbuild::ops
