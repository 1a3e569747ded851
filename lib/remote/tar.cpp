#include "remote/tar.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace dsbuild {
namespace {

// Offsets and sizes of the fields.
struct Field {
  size_t at, size;
};
constexpr Field k_name{0, 100}, k_mode{100, 8}, k_user{108, 8}, k_group{116, 8}, k_size{124, 12},
    k_time{136, 12}, k_checksum{148, 8}, k_type{156, 1}, k_magic{257, 8}, k_prefix{345, 155};
constexpr std::string_view k_ustar{
    "ustar\0"
    "00",
    8};
constexpr char k_regular = '0';

void set_text(std::string& block, Field field, std::string_view text) {
  block.replace(field.at, text.size(), text);
}

// Octal digits to the field's last byte, which is NUL.
void set_number(std::string& block, Field field, uint64_t number) {
  for (size_t i = field.size - 1; i-- > 0; number /= 8)
    block[field.at + i] = static_cast<char>('0' + number % 8);
}

uint64_t checksum_of(std::string block) {
  std::fill_n(block.begin() + k_checksum.at, k_checksum.size, ' ');
  return std::accumulate(block.begin(), block.end(), uint64_t{0},
                         [](uint64_t sum, char c) { return sum + static_cast<unsigned char>(c); });
}

std::string_view text_of(std::string_view block, Field field) {
  const std::string_view text = block.substr(field.at, field.size);
  return text.substr(0, text.find('\0'));
}

std::optional<uint64_t> number_of(std::string_view block, Field field) {
  std::string_view digits = text_of(block, field);
  while (digits.ends_with(' '))
    digits.remove_suffix(1);
  uint64_t number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  return !digits.empty() && end.ptr == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string render_tar_header(const TarMember& member) {
  constexpr uint64_t k_readable = 0644;
  std::string block(k_tar_block, '\0');
  set_text(block, k_name, member.name);
  set_number(block, k_mode, k_readable);
  for (const Field field : {k_user, k_group, k_time})
    set_number(block, field, 0);
  set_number(block, k_size, member.bytes);
  block[k_type.at] = k_regular;
  set_text(block, k_magic, k_ustar);
  set_number(block, {k_checksum.at, k_checksum.size - 1}, checksum_of(block));
  block[k_checksum.at + k_checksum.size - 1] = ' ';
  return block;
}

uint64_t tar_padding(uint64_t bytes) {
  return (k_tar_block - bytes % k_tar_block) % k_tar_block;
}

std::string tar_end() {
  return std::string(2 * k_tar_block, '\0');
}

bool is_tar_end(std::string_view block) {
  return block.size() == k_tar_block && block.find_first_not_of('\0') == std::string_view::npos;
}

std::optional<TarMember> parse_tar_header(std::string_view block) {
  if (block.size() != k_tar_block || block[k_type.at] != k_regular ||
      block.substr(k_magic.at, k_ustar.size()) != k_ustar || !text_of(block, k_prefix).empty())
    return std::nullopt;
  const auto checksum = number_of(block, k_checksum), size = number_of(block, k_size);
  if (!checksum || !size || *checksum != checksum_of(std::string(block))) return std::nullopt;
  return TarMember{std::string(text_of(block, k_name)), *size};
}

}  // namespace dsbuild
