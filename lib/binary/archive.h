// Static libraries in the System V / GNU `ar` format (ar(5)).
#pragma once

#include <vector>

#include "binary/image.h"

namespace dsbuild {

bool is_archive(Bytes file);
// The members in file order, without symbol and name tables. Exit 1 `bad_archive` for damaged bytes and for
// thin archives, which hold only names; `io` where they cannot be read.
Result<std::vector<ByteRange>> archive_members(ByteRange file, const std::string& name);

}  // namespace dsbuild
