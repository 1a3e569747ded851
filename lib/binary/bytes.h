// Loads from file bytes. Every offset is 64 bits and checked here, once; file bytes are never cast to
// structs.
#pragma once

#include <cstring>
#include <optional>
#include <type_traits>

#include "base/byte_source.h"

namespace dsbuild {

// The little-endian number at `offset`. The caller has checked that it lies inside.
template <class T>
T load(Bytes bytes, size_t offset) {
  static_assert(std::is_unsigned_v<T>);
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// `size` bytes from `offset`, or nullopt when they do not all lie inside.
inline std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

// The next multiple of the alignment from here on; 0 and 1 align nothing.
constexpr uint64_t aligned(uint64_t at, uint64_t alignment) {
  return alignment < 2 ? at : (at + alignment - 1) / alignment * alignment;
}

}  // namespace dsbuild
