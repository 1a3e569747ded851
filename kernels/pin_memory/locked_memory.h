// Page-locked memory of the process, known by address: no tvm-ffi here.
#pragma once

#include <cstddef>
#include <string>

namespace dsbuild::ops {

struct LockedBlock {
  void* data = nullptr;  // the start of a page; null where `error` says why
  std::string error;
};

// At least `bytes`, all zero, in whole pages that stay in memory.
LockedBlock allocate_locked(size_t bytes);

// Unmaps what allocate_locked gave.
void free_locked(void* data);

// Lets the pages of the block around `data` be swapped again; it stays allocated. False if no block of
// allocate_locked's is around it, or its pages are not locked any more.
bool unlock(const void* data);

// Whether all of these bytes lie in one block whose pages are locked.
bool is_locked(const void* data, size_t bytes);

// Bytes of all pages that are locked now.
size_t locked_bytes();

}  // namespace dsbuild::ops
