// A source of bytes that counts how many are asked of it.
#pragma once

#include "base/byte_source.h"

namespace dsbuild {

class CountedBytes : public ByteSource {
 public:
  explicit CountedBytes(const ByteSource& source) : source_(source) {}
  uint64_t size() const override { return source_.size(); }
  Result<std::string> read(uint64_t offset, uint64_t size) const override {
    count += size;
    return source_.read(offset, size);
  }
  mutable uint64_t count = 0;

 private:
  const ByteSource& source_;
};

}  // namespace dsbuild
