// The container of an archive of a cache: tar as POSIX has it (ustar, IEEE Std 1003.1), of regular files with
// short names alone. Blobs are packed already, and `tar` lists and unpacks it. Pure.
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

// The block before a file's bytes; names have 100 bytes at most, files less than 8 GiB. The file is for all
// to read, of nobody and of the epoch, so that equal caches make equal archives.
std::string render_tar_header(const TarMember& member);
// How many zero bytes follow so many of a file.
uint64_t tar_padding(uint64_t bytes);
// What ends an archive.
std::string tar_end();

bool is_tar_end(std::string_view block);
// nullopt: the checksum is wrong, or it is no regular file (a link, a folder, a header of pax or GNU tar).
std::optional<TarMember> parse_tar_header(std::string_view block);

}  // namespace dsbuild
