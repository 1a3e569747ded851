#include "sys/digest_memo.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

bool is_settled(const FileIdentity& identity, int64_t read_at_ns) {
  return identity.ctime_ns < read_at_ns - k_file_clock_step_ns;
}

// A line is "<digest> <identity> <name>".
constexpr size_t k_digest_length = 64;

}  // namespace

Trust trust_of(const Environment& environment) {
  const auto found = environment.find(k_paranoid_variable);
  static const std::set<std::string> k_off = {"", "0", "no", "off", "false"};
  return found == environment.end() || k_off.count(to_lower(found->second)) > 0 ? Trust::identities
                                                                                : Trust::nothing;
}

Result<std::string> DigestMemo::digest(const Path& path) {
  const std::string& text = path.native();
  const size_t begin = text.rfind('/') + 1;  // 0: there is none
  const std::string name = text.substr(begin);
  const auto identity = files_.identity(path);
  const bool is_plain = !name.empty() && name != "." && name != "..";
  const bool can_be_listed = identity && is_plain && name.find('\n') == std::string::npos;
  if (can_be_listed && trust_ == Trust::identities) {
    const Shard& shard = shard_of(text.substr(0, begin));
    const auto known = shard.by_name.find(name);
    if (known != shard.by_name.end() && known->second.identity == identity->text())
      return known->second.digest;
  }
  const int64_t read_at_ns = file_clock_now();
  DSBUILD_TRY(bytes, files_.read_file(path));
  std::string digest = sha256(bytes);
  if (can_be_listed && is_settled(*identity, read_at_ns) && files_.identity(path) == identity) {
    Shard& shard = shard_of(text.substr(0, begin));
    shard.by_name[name] = {identity->text(), digest, true};
    shard.has_new = true;
  }
  return digest;
}

void DigestMemo::save() {
  for (auto& [folder, shard] : shards_) {
    if (!shard.has_new) continue;
    const Path file = file_of(folder);
    Shard merged;
    read_shard(file, merged);
    for (const auto& [name, known] : shard.by_name)
      if (known.is_new) merged.by_name[name] = known;
    std::string text;
    for (const auto& [name, known] : merged.by_name)
      text += known.digest + " " + known.identity + " " + name + "\n";
    if (files_.make_directories(file.parent_path()) && files_.write_file(file, sha256(text) + "\n" + text)) {
      shard.has_new = false;
      has_saved_ = true;
    }
  }
}

void DigestMemo::remove_temporaries() {
  const auto folders = files_.list(folder_);
  if (!folders) return;
  for (const std::string& name : *folders) {
    const auto names = files_.list(folder_ / name);
    if (!names) continue;
    for (const std::string& file : *names)
      if (is_own_temporary(file)) (void)files_.remove_all(folder_ / name / file);
  }
}

Path DigestMemo::file_of(const Path& folder) const {
  const std::string digest = sha256(folder.string());
  return folder_ / digest.substr(0, 2) / digest.substr(2, 30);
}

DigestMemo::Shard& DigestMemo::shard_of(const std::string& named) {
  Shard*& known = by_named_folder_[named];
  if (known) return *known;
  const Path folder = files_.absolute(named.empty() ? "." : named);
  const auto [shard, is_new] = shards_.try_emplace(folder);
  if (is_new) read_shard(file_of(folder), shard->second);
  known = &shard->second;
  return *known;
}

void DigestMemo::read_shard(const Path& file, Shard& shard) const {
  const auto text = files_.kind(file) == FileKind::file ? files_.read_file(file) : Result<std::string>("");
  if (!text) return;
  const std::string_view rest = std::string_view(*text).substr(std::min(text->find('\n') + 1, text->size()));
  if (text->substr(0, k_digest_length) != sha256(rest)) return;
  for (const std::string& line : split_lines(rest)) {
    const size_t space = line.find(' ', k_digest_length + 1);
    if (space == std::string::npos) continue;
    shard.by_name[line.substr(space + 1)] = {line.substr(k_digest_length + 1, space - k_digest_length - 1),
                                             line.substr(0, k_digest_length)};
  }
}

}  // namespace dsbuild
