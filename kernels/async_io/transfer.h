// One read or write of a tensor's bytes, between its file and the workers. No tvm-ffi here.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "file.h"

namespace dsbuild::ops {

// Belongs to whoever started it, who waits for it before giving it up. The workers share it.
struct Transfer {
  Direction direction = Direction::read;
  File file;
  char* data = nullptr;
  int64_t offset = 0;  // in the file
  int64_t length = 0;

  std::atomic<int64_t> blocks_left{0};
  std::atomic<bool> failed{false};
  bool done = false;  // under the engine's mutex; from then on nobody else touches this
  std::mutex mutex;
  std::string error;  // of the failed block that is first in the file; "" if all is well
  int64_t error_offset = 0;

  // What went wrong at this offset in the file.
  void fail(int64_t at, const std::string& what) {
    const std::lock_guard lock(mutex);
    if (!error.empty() && error_offset <= at) return;
    error = what + ", at offset " + std::to_string(at);
    error_offset = at;
    failed = true;
  }
};

}  // namespace dsbuild::ops
