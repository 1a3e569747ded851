#include "bundle/describe.h"

#include "binary/image.h"
#include "bundle/verify.h"

namespace dsbuild {
namespace {

std::string images_text(const std::map<Target, int>& images) {
  std::string text;
  for (const auto& [target, count] : images)
    text += target.name() + " " + std::to_string(count) + "\n";
  return text;
}

std::map<Target, int> parse_images(const std::string& text) {
  std::map<Target, int> images;
  for (const std::string& line : split_lines(text)) {
    const std::vector<std::string> words = split(line, " ");
    if (words.size() != 2) continue;
    const auto target = parse_target_name(words[0]);
    const auto count = whole_number<int>(words[1]);
    if (target && count) images[*target] = *count;
  }
  return images;
}

Result<std::map<Target, int>> read_images(const Path& library, const FileReader& files) {
  DSBUILD_TRY(bytes, files.read_file(library));
  DSBUILD_TRY(content, read_binary(as_bytes_of(bytes), library.string()));
  return count_images(content.images);
}

}  // namespace

Result<void> describe_library(ManifestOp& op, const Path& library, const FileReader& files, FactStore& facts,
                              DigestMemo& digests) {
  DSBUILD_TRY(digest, digests.digest(library));
  op.sha256 = digest;
  const auto identity = files.identity(library);
  if (!identity) return fail(Exit::failed, "io", library.string(), "the library is gone", "Build again.");
  op.bytes = identity->size;
  const std::string key = "images " + digest;
  if (const auto known = facts.find(key, "")) {
    op.images = parse_images(*known);
    return {};
  }
  DSBUILD_TRY(images, read_images(library, files));
  op.images = std::move(images);
  facts.put(key, "", images_text(op.images));
  return {};
}

}  // namespace dsbuild
