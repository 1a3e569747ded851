// The file formats of a local cache. A result:
//   <sha256 of all that follows, 64 hex digits>
//   dsbuild-result 1
//   <key>
//   <digest> <bytes> <name>     a line for each file; <bytes>+<milliseconds> where the time of its tools is
//   known
// A blob:
//   <sha256 of all that follows>
//   dsbuild-blob 1
//   <digest> <bytes>            of its content
//   <one Zstandard frame>
// Private to this stage. Pure.
#pragma once

#include <optional>

#include "cache/action_cache.h"

namespace dsbuild {

std::string render_result(const std::string& key, const ActionResult& result);
// nullopt: the text is incomplete, of a different version, or the result of a different key.
std::optional<ActionResult> parse_result(const std::string& key, std::string_view text);

std::optional<std::string> render_blob(const std::string& digest, std::string_view bytes);
// nullopt: the text is incomplete, of a different version, or its digest differs. The content is not hashed
// again, because the first line is the digest of the whole file.
std::optional<std::string> parse_blob(const std::string& digest, std::string_view text);

}  // namespace dsbuild
