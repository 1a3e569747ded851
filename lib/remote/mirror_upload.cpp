// What goes from the local cache to the shared one, in the background.
#include <algorithm>
#include <chrono>

#include "remote/mirror.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

constexpr std::ptrdiff_t k_renewed_together = 32;  // their files are in memory

// Whether an entry says more than the one that is there.
bool differ(const RemoteEntry& entry, const RemoteEntry& there) {
  return !std::ranges::equal(entry, there, [](RemoteOutput one, const RemoteOutput& other) {
    one.uploaded = other.uploaded;
    return one == other;
  });
}

// Records of `newer`, and those of others that are there already, without those that are too many.
RemoteEntry merged(RemoteEntry newer, const RemoteEntry& there) {
  std::set<std::string> records;
  for (const RemoteOutput& output : newer)
    records.insert(record_name(output));
  for (const RemoteOutput& output : there) {
    const std::string record = record_name(output);
    const bool is_known = std::ranges::any_of(
        newer, [&](const RemoteOutput& known) { return known.file.name == output.file.name; });
    if (is_known || (!records.contains(record) && records.size() == k_most_records)) continue;
    records.insert(record);
    newer.push_back(output);
  }
  return newer;
}

}  // namespace

std::vector<RemoteAnswer> RemoteMirror::put(const std::vector<RemoteFile>& files) {
  if (files.empty() || is_off(Direction::out)) return std::vector<RemoteAnswer>(files.size());
  auto answers = store_->put(files);
  judge(answers, Direction::out);
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < files.size(); ++i)
    if (answers[i].state == State::done) uses_.counts.sent_bytes += files[i].bytes.size();
  return answers;
}

// An entry of here as it goes up: with what is there already, whose parts keep their signatures. Only what is
// of here is signed. Whether it is another than is there.
bool RemoteMirror::complete(UpstreamKind what, const std::string& name, const RemoteEntry& there,
                            RemoteEntry& entry) const {
  keep_signatures(what, there, entry);
  if (options_.keys.own && !sign_parts(what, name, *options_.keys.own, entry)) return false;
  entry = merged(std::move(entry), there);
  return differ(entry, there);
}

std::vector<UpstreamItem> RemoteMirror::pushed() const {
  const std::lock_guard lock(mutex_);
  return pushed_;
}

// Of the local cache, each once. The small ones first: they are in the large ones. Texts of records are
// packed alone, for entries of several machines are merged.
void RemoteMirror::put_blobs(UpstreamKind what, const std::vector<Upload>& uploads) {
  const auto bases = what == UpstreamKind::result ? FilePacker::Bases::any : FilePacker::Bases::none;
  std::set<std::pair<uint64_t, std::string>> due;
  for (const Upload& upload : uploads)
    for (const CachedFile& file : upload.files)
      if (!packer_.knows(file.digest)) due.emplace(file.bytes, file.digest);
  std::vector<RemoteFile> files;
  std::vector<std::string> digests;
  for (const auto& [size, digest] : due) {
    const auto bytes = blobs_.find({digest}).front();
    auto packed = bytes ? packer_.pack(digest, *bytes, bases) : std::nullopt;
    if (!packed || packed->bytes.empty()) continue;
    files.push_back({{RemoteKind::cas, packed->output.digest}, std::move(packed->bytes)});
    digests.push_back(digest);
  }
  const auto answers = put(files);
  for (size_t i = 0; i < files.size(); ++i)
    packer_.end_put(digests[i], answers[i].state == State::done);
}

void RemoteMirror::note_sent(UpstreamKind what, const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys)
    unsent_.erase(action_name(what, key).digest);
}

// Entries go up after their files: nobody finds one without them.
size_t RemoteMirror::put_entries(UpstreamKind what, const std::vector<Upload>& uploads) {
  put_blobs(what, uploads);
  std::vector<RemoteFile> entries;
  std::vector<UpstreamItem> items;
  for (const Upload& upload : uploads) {
    auto entry = packer_.entry_of(upload.files);
    if (!entry) continue;
    for (RemoteOutput& output : *entry)
      output.uploaded = began_;
    const RemoteName name = action_name(what, upload.key);
    if (!complete(what, name.digest, upload.there, *entry)) {
      if (!differ(*entry, upload.there)) note_sent(what, {upload.key});
      continue;
    }
    entries.push_back({name, render_entry(name.digest, *entry)});
    items.push_back({what, upload.key});
  }
  const auto answers = put(entries);
  const std::lock_guard lock(mutex_);
  const size_t before = pushed_.size();
  for (size_t i = 0; i < items.size(); ++i)
    if (answers[i].state == State::done) {
      pushed_.push_back(items[i]);
      unsent_.erase(entries[i].name.digest);
    }
  return pushed_.size() - before;
}

// Without those that were found here and are there.
std::vector<std::string> RemoteMirror::lacking_there(const std::vector<std::string>& results) {
  std::vector<std::string> offered, lacking, sent;
  for (const std::string& key : results) {
    const std::lock_guard lock(mutex_);
    (found_.contains(action_name(UpstreamKind::result, key).digest) ? offered : lacking).push_back(key);
  }
  const auto there = get_entries(UpstreamKind::result, offered);
  for (size_t i = 0; i < offered.size(); ++i)
    (there[i] && !there[i]->empty() ? sent : lacking).push_back(offered[i]);
  note_sent(UpstreamKind::result, sent);
  return lacking;
}

void RemoteMirror::upload_results(const std::vector<std::string>& all) {
  const std::vector<std::string> keys = options_.offers ? lacking_there(all) : all;
  const auto results = actions_.find(keys);
  std::vector<Upload> uploads;
  for (size_t i = 0; i < keys.size(); ++i)
    if (results[i]) uploads.push_back({keys[i], results[i]->outputs});
  const size_t uploaded = put_entries(UpstreamKind::result, uploads);
  const std::lock_guard lock(mutex_);
  uses_.counts.uploads += uploaded;
}

// Itself, and the texts that it names.
std::vector<CachedFile> RemoteMirror::files_of_record(const CachedFile& record) const {
  std::vector<CachedFile> files = {{record.digest, record.digest, record.bytes}};
  const auto text = blobs_.find({record.digest}).front();
  const auto parsed = text ? parse_record(*text) : std::nullopt;
  if (!parsed) return files;  // of a fact
  for (const std::string& list : {parsed->others, parsed->search, parsed->present})
    if (const auto named = list.empty() ? std::nullopt : blobs_.find({list}).front())
      files.push_back({record.digest + "/" + std::to_string(files.size()), list, named->size()});
  return files;
}

void RemoteMirror::upload_records(const std::vector<std::string>& keys) {
  const auto here = actions_.find(keys);
  const auto there = get_entries(UpstreamKind::records, keys);
  std::vector<Upload> uploads;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!here[i]) continue;
    Upload upload{keys[i], {}, there[i].value_or(RemoteEntry{})};
    for (const CachedFile& record : here[i]->outputs)
      std::ranges::copy(files_of_record(record), std::back_inserter(upload.files));
    uploads.push_back(std::move(upload));
  }
  (void)put_entries(UpstreamKind::records, uploads);
}

void RemoteMirror::upload() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !queue_.empty() || !renewals_.empty(); });
    if (ends_) return;
    is_uploading_ = true;
    upload_batch(lock);
    is_uploading_ = false;
    changed_.notify_all();
  }
}

// New results come first, for nobody else has them.
void RemoteMirror::upload_batch(std::unique_lock<std::mutex>& lock) {
  const bool is_new = !queue_.empty();
  std::deque<UpstreamItem>& queue = is_new ? queue_ : renewals_;
  const auto end =
      queue.begin() + std::min(std::ssize(queue), is_new ? std::ssize(queue) : k_renewed_together);
  const std::vector<UpstreamItem> batch(queue.begin(), end);
  queue.erase(queue.begin(), end);
  lock.unlock();
  if (is_new)
    push(batch);
  else
    renew(batch);
  lock.lock();
}

void RemoteMirror::push(const std::vector<UpstreamItem>& batch) {
  std::vector<std::string> results, records;
  for (const UpstreamItem& added : batch) {
    std::vector<std::string>& keys = added.what == UpstreamKind::result ? results : records;
    if (std::ranges::find(keys, added.key) == keys.end()) keys.push_back(added.key);
  }
  if (!store_->may_put()) return;
  const MirrorLog::Timer timer(log_, k_upload_span);
  upload_results(results);
  upload_records(records);
}

bool RemoteMirror::is_idle() const {
  return queue_.empty() && renewals_.empty() && !is_uploading_;
}

bool RemoteMirror::wait(double seconds, const std::function<bool()>& goes_on) {
  constexpr std::chrono::milliseconds k_look(200);
  for (const double end = steady_seconds() + seconds; steady_seconds() < end;) {
    if (!goes_on()) return false;
    std::this_thread::sleep_for(k_look);
  }
  return true;
}

bool RemoteMirror::wait_for_queue(const std::function<bool()>& goes_on) {
  constexpr std::chrono::milliseconds k_look(200);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, k_look, [&] { return is_idle(); })) {
    lock.unlock();
    if (!goes_on()) return false;
    lock.lock();
  }
  return true;
}

// What is still to go there.
std::vector<UpstreamItem> RemoteMirror::begin_again() {
  const std::lock_guard lock(mutex_);
  uses_.off.clear();
  uses_.read_only.clear();
  failures_in_a_row_ = 0;
  std::vector<UpstreamItem> items;
  for (const auto& [name, item] : unsent_)
    items.push_back(item);
  return items;
}

bool RemoteMirror::send_all(const std::function<bool()>& goes_on) {
  if (!wait_for_queue(goes_on)) return false;
  for (const double pause : options_.pauses) {
    if (uses().unsent == 0) return true;
    if (!wait(pause, goes_on)) return false;
    push(begin_again());
  }
  return uses().unsent == 0;
}

void RemoteMirror::finish(double most_seconds) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(most_seconds), [&] { return is_idle(); });
    ends_ = true;
    changed_.notify_all();
  }
  if (!uploader_.joinable()) return;
  store_->cancel();
  uploader_.join();
}

void RemoteMirror::added(UpstreamKind what, const std::string& key) {
  if (!options_.uploads) return;
  const bool waits = is_off(Direction::out);
  const std::lock_guard lock(mutex_);
  unsent_.try_emplace(action_name(what, key).digest, UpstreamItem{what, key});
  if (waits) return;
  queue_.push_back({what, key});
  changed_.notify_all();
}

void RemoteMirror::found(UpstreamKind what, const std::string& key) {
  if (!offers() || log_.finding(what, key) == RemoteFinding::found) return;
  {
    const std::lock_guard lock(mutex_);
    if (!found_.insert(action_name(what, key).digest).second) return;
  }
  added(what, key);
}

}  // namespace dsbuild
