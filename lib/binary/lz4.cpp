#include "binary/lz4.h"

#include <algorithm>

namespace dsbuild {
namespace {

constexpr size_t k_shortest_match = 4;
constexpr size_t k_largest_ratio = 255;  // each byte of a length adds at most that many

// A block is a row of sequences: literals, then a match, which repeats bytes that came before.
class Block {
 public:
  Block(std::string_view packed, size_t size) : packed_(packed), size_(size) { unpacked_.reserve(size); }

  std::optional<std::string> unpack() {
    while (at_ < packed_.size()) {
      const unsigned token = take();
      if (!copy_literals(token >> 4)) return std::nullopt;
      if (at_ == packed_.size()) break;  // the last sequence has no match
      if (!copy_match(token & 15)) return std::nullopt;
    }
    if (unpacked_.size() != size_) return std::nullopt;
    return std::move(unpacked_);
  }

 private:
  unsigned take() { return static_cast<unsigned char>(packed_[at_++]); }
  size_t room() const { return size_ - unpacked_.size(); }

  // A length of 15 goes on in the bytes that follow, up to one that is not 255.
  std::optional<size_t> length(unsigned start) {
    size_t length = start;
    unsigned more = start == 15 ? 255 : 0;
    while (more == 255) {
      if (at_ == packed_.size()) return std::nullopt;
      more = take();
      length += more;
    }
    return length;
  }

  bool copy_literals(unsigned start) {
    const auto count = length(start);
    if (!count || *count > packed_.size() - at_ || *count > room()) return false;
    unpacked_.append(packed_.substr(at_, *count));
    at_ += *count;
    return true;
  }

  bool copy_match(unsigned start) {
    if (packed_.size() - at_ < 2) return false;
    size_t distance = take();
    distance |= size_t{take()} << 8;
    const auto beyond = length(start);
    if (!beyond || distance == 0 || distance > unpacked_.size()) return false;
    size_t count = *beyond + k_shortest_match;
    if (count > room()) return false;
    // A match may go on into what it writes: then it repeats the last `distance` bytes.
    const size_t from = unpacked_.size() - distance;
    while (count > 0) {
      const size_t piece = std::min(count, unpacked_.size() - from);
      unpacked_.append(unpacked_, from, piece);
      count -= piece;
    }
    return true;
  }

  std::string_view packed_;
  size_t size_;
  size_t at_ = 0;
  std::string unpacked_;
};

}  // namespace

std::optional<std::string> unpack_lz4(std::string_view packed, size_t size) {
  // Before memory is taken for it: whether that much can come of it.
  if (size / k_largest_ratio > packed.size()) return std::nullopt;
  return Block(packed, size).unpack();
}

}  // namespace dsbuild
