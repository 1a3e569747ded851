// The key of a result in a cache: named parts, which `explain` prints, and one digest of all parts. No other
// code makes such digests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

struct KeyPart {
  std::string name, value;  // the value is the text itself, or a digest of it
  bool operator==(const KeyPart&) const = default;
};

struct Key {
  std::vector<KeyPart> parts;

  Key& add(std::string name, std::string value);
  // Long values count by their SHA-256.
  Key& add_bytes(std::string name, std::string_view bytes);
  // The same key with a new value for one part.
  Key with(std::string_view name, std::string value) const;
  std::string digest() const;  // 64 hex digits over all parts, in their order
  bool operator==(const Key&) const = default;
};

}  // namespace dsbuild
