// Reads zip archives, such as wheels, member by member through minizip. Writes nothing to a disk, and has no
// whole member in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"

namespace dsbuild {

bool is_zip(Bytes start);  // `start`: the first four bytes

struct ZipMember {
  std::string path;                // in the archive
  uint64_t size = 0;               // unpacked
  uint64_t place = 0, number = 0;  // in the list of members, for minizip
};

// In the archive's order, without folders. Error: exit 1 `bad_archive` if the archive is damaged.
Result<std::vector<ZipMember>> zip_members(const ByteSource& archive, const std::string& name);

// A member of an archive, which must outlive it. It is unpacked as far as it is read. A read more than a few
// MiB before the last one unpacks it from its beginning again. Error: exit 1 `bad_archive` if it is damaged,
// has a password, or is not compressed by deflate.
Result<std::unique_ptr<ByteSource>> open_zip_member(const ByteSource& archive, const ZipMember& member,
                                                    const std::string& name);

}  // namespace dsbuild
