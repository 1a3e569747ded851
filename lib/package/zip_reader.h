// Zip archives, wheels among them, read member by member through minizip: nothing is written to a disk, and
// no member is whole in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"

namespace dsbuild {

bool is_zip(Bytes start);  // of the first four bytes

struct ZipMember {
  std::string path;                // in the archive
  uint64_t size = 0;               // unpacked
  uint64_t place = 0, number = 0;  // in the list of members, for minizip
};

// In the archive's order, without folders. Exit 1 `bad_archive` where it is damaged.
Result<std::vector<ZipMember>> zip_members(const ByteSource& archive, const std::string& name);

// A member of an archive, which outlives it. It is unpacked as far as what is read: from its beginning again
// for what lies more than a few MiB before what was read last. Exit 1 `bad_archive` where it is damaged, has
// a password, or is compressed in another way than zip files of wheels are (deflate).
Result<std::unique_ptr<ByteSource>> open_zip_member(const ByteSource& archive, const ZipMember& member,
                                                    const std::string& name);

}  // namespace dsbuild
