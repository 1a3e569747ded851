// Static libraries in the System V / GNU `ar` format (ar(5)).
#pragma once

#include <string>
#include <vector>

#include "binary/image.h"

namespace dsbuild {

bool is_archive(Bytes file);
struct ArchiveMember {
  std::string name;  // "a.o"; that of a long one is its place in the table of names, "/12"
  ByteRange bytes;
};
// The members in file order, without symbol and name tables. Exit 1 `bad_archive` for damaged bytes and for
// thin archives, which hold only names; `io` where they cannot be read.
Result<std::vector<ArchiveMember>> archive_members(ByteRange file, const std::string& name);

// How many of the bytes are an archive: all, or those in front of what is no member.
Result<uint64_t> archive_size(ByteRange file);

}  // namespace dsbuild
