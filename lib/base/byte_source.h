// Reads bytes on demand, so that a few headers of a file of gigabytes need not load the rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dsbuild {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file or part of one. Callers check first that the range lies inside.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // All `size` bytes from `offset`, which lie inside. Error: exit 1 `io` if they cannot be read.
  virtual Result<std::string> read(uint64_t offset, uint64_t size) const = 0;
};

// Bytes in memory, which must outlive it.
class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(Bytes bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Result<std::string> read(uint64_t offset, uint64_t size) const override {
    return std::string(as_text(bytes_).substr(static_cast<size_t>(offset), static_cast<size_t>(size)));
  }

 private:
  Bytes bytes_;
};

// Bytes that it owns.
class OwnedBytes : public ByteSource {
 public:
  explicit OwnedBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Result<std::string> read(uint64_t offset, uint64_t size) const override {
    return bytes_.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  }

 private:
  std::string bytes_;
};

// A part of a source, which must outlive it: a section of a file, a member of an archive. Offsets are
// relative to the part.
class ByteRange {
 public:
  ByteRange(const ByteSource& source) : ByteRange(source, 0, source.size()) {}
  uint64_t begin() const { return begin_; }  // in the source
  uint64_t size() const { return size_; }
  bool holds(uint64_t offset, uint64_t size) const { return offset <= size_ && size <= size_ - offset; }
  // nullopt: it does not lie inside.
  std::optional<ByteRange> part(uint64_t offset, uint64_t size) const {
    if (!holds(offset, size)) return std::nullopt;
    return ByteRange(*source_, begin_ + offset, size);
  }
  // Reads `size` bytes from `offset`; fewer at the end.
  Result<std::string> read(uint64_t offset, uint64_t size) const {
    if (offset >= size_) return std::string();
    return source_->read(begin_ + offset, std::min(size, size_ - offset));
  }
  Result<std::string> read_all() const { return read(0, size_); }

 private:
  ByteRange(const ByteSource& source, uint64_t begin, uint64_t size)
      : source_(&source), begin_(begin), size_(size) {}

  const ByteSource* source_;
  uint64_t begin_;
  uint64_t size_;
};

}  // namespace dsbuild
