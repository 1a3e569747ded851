// One entry of the store as the bytes of a file:
//   <sha256 of all that follows, 64 hex digits>
//   dsbuild-store 1
//   <key>
//   <bytes> <name>          a line for each file
//   (an empty line)
//   <one Zstandard frame: the files' bytes, one after another>
// Private to this stage. Pure.
#pragma once

#include <optional>

#include "cache/content_store.h"

namespace dsbuild {

std::optional<std::string> render_entry(const std::string& key, const StoreEntry& entry);
// nullopt for what is not whole, of another version, or the content of another key.
std::optional<StoreEntry> parse_entry(const std::string& key, std::string_view text);

}  // namespace dsbuild
