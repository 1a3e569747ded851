// A store that removes files by age removes those that each build uses, too. So what a build has found there
// is written again where it is old: the same bytes, so that signatures hold, files before the entry.
#include <algorithm>

#include "base/digest.h"
#include "remote/mirror.h"

namespace dsbuild {

using State = RemoteAnswer::State;

// An output without a time counts as old: its entry gets one then.
void RemoteMirror::note_age(UpstreamKind what, const std::string& key, const RemoteEntry& entry) {
  if (options_.ttl_seconds == 0 || is_off(Direction::out)) return;
  const int64_t oldest = options_.clock() - options_.ttl_seconds / 2;
  if (std::ranges::none_of(entry, [&](const RemoteOutput& output) { return output.uploaded < oldest; }))
    return;
  const std::lock_guard lock(mutex_);
  if (!old_.insert(action_name(what, key).digest).second) return;
  renewals_.push_back({what, key});
  changed_.notify_all();
}

// The packed bytes are fetched again, so that a build keeps none of them, and are checked: damage is not
// renewed.
void RemoteMirror::renew_files(const std::vector<std::optional<RemoteEntry>>& entries) {
  std::set<std::string> due;
  std::vector<RemoteName> names;
  for (const auto& entry : entries)
    for (const RemoteOutput& output : entry.value_or(RemoteEntry{}))
      if (output.contents.empty() && !fresh_files_.contains(output.digest) &&
          due.insert(output.digest).second)
        names.push_back({RemoteKind::cas, output.digest, output.bytes});
  auto answers = get(names);
  std::vector<RemoteFile> files;
  for (size_t i = 0; i < names.size(); ++i)
    if (answers[i].state == State::done && sha256(answers[i].bytes) == names[i].digest)
      files.push_back({names[i], std::move(answers[i].bytes)});
  const auto ends = put(files);
  for (size_t i = 0; i < files.size(); ++i)
    if (ends[i].state == State::done) fresh_files_.insert(files[i].name.digest);
}

// Entries are read again: another machine may have written them since.
void RemoteMirror::renew(const std::vector<UpstreamItem>& items) {
  if (is_off(Direction::out) || !store_->may_put()) return;
  const MirrorLog::Timer timer(log_, k_upload_span);
  std::vector<RemoteFile> due;
  for (const UpstreamKind what : {UpstreamKind::result, UpstreamKind::records}) {
    std::vector<std::string> keys;
    for (const UpstreamItem& item : items)
      if (item.what == what) keys.push_back(item.key);
    auto entries = get_entries(what, keys);
    renew_files(entries);
    for (size_t i = 0; i < keys.size(); ++i) {
      RemoteEntry entry = std::move(entries[i]).value_or(RemoteEntry{});
      const bool is_there = std::ranges::all_of(entry, [&](const RemoteOutput& output) {
        return !output.contents.empty() || fresh_files_.contains(output.digest);
      });
      if (entry.empty() || !is_there) continue;
      for (RemoteOutput& output : entry)
        output.uploaded = began_;
      const RemoteName name = action_name(what, keys[i]);
      due.push_back({name, render_entry(name.digest, entry)});
    }
  }
  const auto answers = put(due);
  const std::lock_guard lock(mutex_);
  uses_.counts.renewals += static_cast<uint64_t>(
      std::ranges::count(answers, State::done, [](const RemoteAnswer& answer) { return answer.state; }));
}

}  // namespace dsbuild
