// Reads and writes the format of cache archives: POSIX tar (ustar, IEEE Std 1003.1), restricted to regular
// files with short names. Blobs are already compressed, so the archive is not. `tar` lists and unpacks it.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

inline constexpr uint64_t k_tar_block = 512;

struct TarMember {
  std::string name;
  uint64_t bytes = 0;
  bool operator==(const TarMember&) const = default;
};

// The block before a file's bytes. Names have 100 bytes at most, files less than 8 GiB. The file gets fixed
// values, so that equal caches make equal archives: readable by all, no owner, mtime 0.
std::string render_tar_header(const TarMember& member);
// How many zero bytes follow a file of this size.
uint64_t tar_padding(uint64_t bytes);
// The end mark of an archive.
std::string tar_end();

bool is_tar_end(std::string_view block);
// nullopt: the checksum is wrong, or it is no regular file (a link, a folder, a header of pax or GNU tar).
std::optional<TarMember> parse_tar_header(std::string_view block);

}  // namespace dsbuild
