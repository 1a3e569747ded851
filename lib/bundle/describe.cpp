#include "bundle/describe.h"

#include "base/version.h"
#include "bundle/verify.h"

namespace dsbuild {
namespace {

// What is remembered of a library: a line for each fact, its kind first.
std::string facts_text(const ManifestOp& op) {
  std::string text;
  for (const auto& [target, count] : op.images)
    text += "image " + target.name() + " " + std::to_string(count) + "\n";
  for (const std::string& library : op.runtime->libraries)
    text += "needed " + library + "\n";
  for (const auto& [name, version] : op.runtime->versions)
    text += "wanted " + name + " " + version + "\n";
  return text;
}

void parse_facts(const std::string& text, ManifestOp& op) {
  op.runtime.emplace();
  for (const std::string& line : split_lines(text)) {
    const std::vector<std::string> words = split(line, " ");
    if (words.size() == 2 && words[0] == "needed") op.runtime->libraries.push_back(words[1]);
    if (words.size() != 3) continue;
    if (words[0] == "wanted") op.runtime->versions[words[1]] = words[2];
    const auto target = words[0] == "image" ? parse_target_name(words[1]) : std::nullopt;
    const auto count = whole_number<int>(words[2]);
    if (target && count) op.images[*target] = *count;
  }
}

Result<void> read_library(ManifestOp& op, const Path& library, const FileReader& files) {
  DSBUILD_TRY(bytes, files.read_file(library));
  DSBUILD_TRY(content, read_binary(as_bytes_of(bytes), library.string()));
  keep_loadable(content);
  op.images = count_images(content.images);
  op.runtime = runtime_of(content);
  return {};
}

struct WantedVersion {
  std::string name;
  Version version;
};

// "GLIBC_2.34" -> GLIBC and 2.34; nothing for what is not numbered so, as GLIBC_PRIVATE.
std::optional<WantedVersion> read_wanted(const std::string& wanted) {
  if (wanted == "GLIBC_ABI_DT_RELR") return WantedVersion{"GLIBC", {{2, 36}}};  // the first that reads these
  const size_t number = wanted.find_first_of("0123456789");
  if (number == std::string::npos || number < 2 || wanted[number - 1] != '_') return std::nullopt;
  const auto version = parse_version(wanted.substr(number));
  if (!version || version->text() != wanted.substr(number)) return std::nullopt;
  return WantedVersion{wanted.substr(0, number - 1), *version};
}

}  // namespace

ManifestRuntime runtime_of(const BinaryFile& library) {
  std::map<std::string, Version> highest;
  for (const std::string& wanted : library.wanted_versions)
    if (const auto read = read_wanted(wanted))
      highest[read->name] = std::max(highest[read->name], read->version);
  ManifestRuntime runtime{.libraries = library.needed, .versions = {}};
  for (const auto& [name, version] : highest)
    runtime.versions[name] = version.text();
  return runtime;
}

Result<void> describe_library(ManifestOp& op, const Path& library, const FileReader& files, FactStore& facts,
                              DigestMemo& digests) {
  DSBUILD_TRY(digest, digests.digest(library));
  op.sha256 = digest;
  const auto identity = files.identity(library);
  if (!identity) return fail(Exit::failed, "io", library.string(), "the library is gone", "Build again.");
  op.bytes = identity->size;
  const std::string key = "library " + digest;
  if (const auto known = facts.find(key, "")) {
    parse_facts(*known, op);
    return {};
  }
  DSBUILD_CHECK(read_library(op, library, files));
  facts.put(key, "", facts_text(op));
  return {};
}

}  // namespace dsbuild
