#include <map>

#include "base/digest.h"
#include "remote/action_result.h"
#include "remote/cache_archive.h"
#include "remote/cache_archive_layout.h"
#include "remote/tar.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

// More than any file of a cache has.
constexpr uint64_t k_most_bytes = uint64_t{1} << 30;

struct Place {
  uint64_t at = 0, bytes = 0;
};
using Members = std::map<std::string, Place>;

tl::unexpected<Error> bad_archive(const Path& file, const std::string& what) {
  return fail(Exit::failed, "bad_cache_archive", file.string(), what + "; nothing was imported",
              "Make it again where it came from, by cache export. And look at what carried it here.");
}

// Where everything lies. Only the last member may have a name that is no file's of a cache: "keys".
Result<Members> read_members(const ByteSource& source, const Path& file) {
  Members members;
  const uint64_t size = source.size();
  for (uint64_t at = 0; at + k_tar_block <= size;) {
    DSBUILD_TRY(block, source.read(at, k_tar_block));
    at += k_tar_block;
    if (is_tar_end(block)) {
      DSBUILD_TRY(rest, source.read(at, std::min(k_tar_block, size - at)));
      if (is_tar_end(rest) && at + k_tar_block == size) return members;
      return bad_archive(file, "it has more than an archive of a cache, or less");
    }
    const auto member = parse_tar_header(block);
    if (!member) return bad_archive(file, "it holds something else than plain files");
    if (!parse_member_name(member->name) && member->name != k_archive_keys)
      return bad_archive(file, "no cache has a file '" + printable(member->name) + "'");
    if (member->bytes > k_most_bytes || member->bytes + tar_padding(member->bytes) > size - at)
      return bad_archive(file, member->name + " is said to be longer than the archive");
    if (!members.emplace(member->name, Place{at, member->bytes}).second)
      return bad_archive(file, member->name + " is there twice");
    at += member->bytes + tar_padding(member->bytes);
  }
  return bad_archive(file, "it has no end: it was cut off, or is not an archive of a cache");
}

Result<void> check_entry(const std::string& name, const std::string& bytes, const Members& members,
                         const Path& file) {
  const auto entry = parse_entry(name, bytes);
  if (!entry) return bad_archive(file, "the entry " + name + " is damaged");
  for (const RemoteOutput& output : *entry)
    if (!members.contains(member_name({RemoteKind::cas, output.digest})))
      return bad_archive(file, "the entry " + name + " names a file that is not there");
  return {};
}

Result<void> check_files(const ByteSource& source, const Members& members, const Path& file) {
  for (const auto& [member, place] : members) {
    const auto name = parse_member_name(member);
    if (!name) continue;
    DSBUILD_TRY(bytes, source.read(place.at, place.bytes));
    if (name->kind == RemoteKind::ac)
      DSBUILD_CHECK(check_entry(name->digest, bytes, members, file));
    else if (sha256(bytes) != name->digest)
      return bad_archive(file, member + " is damaged");
  }
  return {};
}

class TarReader : public RemoteStore {
 public:
  TarReader(std::unique_ptr<ByteSource> source, Members members)
      : source_(std::move(source)), members_(std::move(members)) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    std::vector<RemoteAnswer> answers;
    for (const RemoteName& name : names)
      answers.push_back(get_one(name));
    return answers;
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override {
    return std::vector<RemoteAnswer>(files.size(), {State::refused, {}, "an archive is only read"});
  }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override {
    std::vector<RemoteAnswer> answers;
    for (const RemoteName& name : names)
      answers.push_back({members_.contains(member_name(name)) ? State::done : State::absent, {}, {}});
    return answers;
  }
  void cancel() override {}

 private:
  RemoteAnswer get_one(const RemoteName& name) const {
    const auto found = members_.find(member_name(name));
    if (found == members_.end()) return {State::absent, {}, {}};
    auto bytes = source_->read(found->second.at, found->second.bytes);
    if (!bytes) return {State::failed, {}, bytes.error().where + ": " + bytes.error().what};
    return {State::done, std::move(*bytes), {}};
  }

  std::unique_ptr<ByteSource> source_;
  Members members_;
};

}  // namespace

Result<Archive> open_archive(FileSystem& files, const Path& file) {
  DSBUILD_TRY(source, files.open(file));
  DSBUILD_TRY(members, read_members(*source, file));
  const auto place = members.find(k_archive_keys);
  if (place == members.end()) return bad_archive(file, "it has no list of keys");
  DSBUILD_TRY(text, source->read(place->second.at, place->second.bytes));
  auto keys = parse_archive_keys(text);
  if (!keys) return bad_archive(file, "its list of keys is damaged, or of another version");
  DSBUILD_CHECK(check_files(*source, members, file));
  return Archive{std::make_shared<TarReader>(std::move(source), std::move(members)), std::move(keys->scope),
                 std::move(keys->items)};
}

}  // namespace dsbuild
