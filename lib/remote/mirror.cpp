#include "remote/mirror.h"

#include <algorithm>
#include <chrono>

#include "base/compress.h"
#include "base/digest.h"

namespace dsbuild {
namespace {

constexpr int k_most_failures = 3;  // in a row
// What an entry claims before it was seen. No output is as large.
constexpr uint64_t k_most_bytes = uint64_t{1} << 30;

using State = RemoteAnswer::State;

// In the entry of an action's records, a record's name is its digest, and the texts that it names have names
// below. Those of `newer`, and what is there already of others, without those that are too many.
RemoteEntry merged(RemoteEntry newer, const RemoteEntry& there) {
  std::set<std::string> records;
  for (const RemoteOutput& output : newer)
    records.insert(output.file.name.substr(0, output.file.name.find('/')));
  for (const RemoteOutput& output : there) {
    const std::string record = output.file.name.substr(0, output.file.name.find('/'));
    const bool is_known = std::ranges::any_of(
        newer, [&](const RemoteOutput& known) { return known.file.name == output.file.name; });
    if (is_known || (!records.contains(record) && records.size() == k_most_records)) continue;
    records.insert(record);
    newer.push_back(output);
  }
  return newer;
}

}  // namespace

RemoteMirror::RemoteMirror(std::unique_ptr<RemoteStore> store, FileSystem& files, const Path& local,
                           MirrorOptions options)
    : store_(std::move(store)),
      folder_(files, local),
      actions_(folder_),
      blobs_(folder_),
      cache_(files, local),
      options_(std::move(options)),
      uploader_([this] { upload(); }) {}

RemoteMirror::~RemoteMirror() {
  finish(0);
}

// A key says nothing of its scope, and a list of records has the key of its action.
RemoteName RemoteMirror::action_name(UpstreamKind what, const std::string& key) const {
  const char* kind = what == UpstreamKind::records ? "records" : "result";
  return {RemoteKind::ac,
          Key().add("version", "1").add("scope", options_.scope).add("kind", kind).add("key", key).digest()};
}

bool RemoteMirror::is_off(Direction direction) const {
  const std::lock_guard lock(mutex_);
  const bool is_read_only = !options_.uploads || !uses_.read_only.empty();
  return !uses_.off.empty() || (direction == Direction::out && is_read_only);
}

void RemoteMirror::judge(const std::vector<RemoteAnswer>& answers, Direction direction) {
  const std::lock_guard lock(mutex_);
  uses_.requests += answers.size();
  for (const RemoteAnswer& answer : answers) {
    if (answer.state == State::refused) {
      if (direction == Direction::out)
        uses_.read_only = answer.why;
      else if (uses_.off.empty())
        uses_.off = answer.why;
    }
    failures_in_a_row_ = answer.state == State::failed ? failures_in_a_row_ + 1 : 0;
    if (failures_in_a_row_ >= k_most_failures && uses_.off.empty()) uses_.off = answer.why;
  }
}

std::vector<RemoteAnswer> RemoteMirror::get(const std::vector<RemoteName>& names) {
  if (names.empty() || is_off(Direction::in)) return std::vector<RemoteAnswer>(names.size());
  auto answers = store_->get(names);
  judge(answers, Direction::in);
  const std::lock_guard lock(mutex_);
  for (const RemoteAnswer& answer : answers)
    uses_.bytes_in += answer.bytes.size();
  return answers;
}

std::vector<RemoteAnswer> RemoteMirror::put(const std::vector<RemoteFile>& files) {
  if (files.empty() || is_off(Direction::out)) return std::vector<RemoteAnswer>(files.size());
  auto answers = store_->put(files);
  judge(answers, Direction::out);
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < files.size(); ++i)
    if (answers[i].state == State::done) uses_.bytes_out += files[i].bytes.size();
  return answers;
}

std::vector<std::optional<RemoteEntry>> RemoteMirror::get_entries(UpstreamKind what,
                                                                  const std::vector<std::string>& keys) {
  std::vector<RemoteName> names;
  for (const std::string& key : keys)
    names.push_back(action_name(what, key));
  std::vector<std::optional<RemoteEntry>> entries;
  const std::vector<RemoteAnswer> answers = get(names);
  for (size_t i = 0; i < names.size(); ++i)
    entries.push_back(answers[i].state == State::done ? parse_entry(names[i].digest, answers[i].bytes)
                                                      : std::nullopt);
  return entries;
}

// Which files of the entries are here now, by their digests here.
std::set<std::string> RemoteMirror::get_blobs(const std::vector<std::optional<RemoteEntry>>& entries) {
  std::map<std::string, RemoteOutput> wanted;
  for (const auto& entry : entries)
    for (const RemoteOutput& output : entry.value_or(RemoteEntry{}))
      wanted.emplace(output.file.digest, output);
  std::set<std::string> here;
  std::vector<RemoteName> names;
  std::vector<CachedFile> files;
  for (const auto& [digest, output] : wanted) {
    if (blobs_.has({digest}).front()) {
      here.insert(digest);
    } else {
      names.push_back({RemoteKind::cas, output.digest});
      files.push_back(output.file);
    }
  }
  const std::vector<RemoteAnswer> answers = get(names);
  for (size_t i = 0; i < names.size(); ++i) {
    if (answers[i].state != State::done || files[i].bytes > k_most_bytes) continue;
    const auto bytes = decompress(answers[i].bytes, files[i].bytes);
    const bool is_it = bytes && sha256(*bytes) == files[i].digest;
    if (is_it && blobs_.put(files[i].digest, *bytes)) here.insert(files[i].digest);
  }
  return here;
}

size_t RemoteMirror::fetch_results(const std::vector<std::string>& keys) {
  const auto entries = get_entries(UpstreamKind::result, keys);
  const std::set<std::string> here = get_blobs(entries);
  size_t found = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!entries[i] || entries[i]->empty()) continue;
    ActionResult result;
    for (const RemoteOutput& output : *entries[i])
      if (here.contains(output.file.digest)) result.outputs.push_back(output.file);
    if (result.outputs.size() != entries[i]->size()) continue;
    actions_.put(keys[i], result);
    ++found;
  }
  const std::lock_guard lock(mutex_);
  uses_.hits += found;
  uses_.misses += keys.size() - found;
  return found;
}

// The lists of records here have them, then.
void RemoteMirror::fetch_records(const std::vector<std::string>& keys) {
  const auto entries = get_entries(UpstreamKind::records, keys);
  const std::set<std::string> here = get_blobs(entries);
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto before = actions_.find({keys[i]}).front();
    ActionResult all = before.value_or(ActionResult{});
    for (const RemoteOutput& output : entries[i].value_or(RemoteEntry{})) {
      const CachedFile record{k_record, output.file.digest, output.file.bytes};
      const bool is_record = output.file.name == output.file.digest && here.contains(output.file.digest);
      if (is_record && std::ranges::find(all.outputs, record) == all.outputs.end())
        all.outputs.push_back(record);
    }
    all.outputs.resize(std::min(all.outputs.size(), k_most_records));
    if (!all.outputs.empty() && all != before) actions_.put(keys[i], all);
  }
}

// The result of the first record here that holds; "": there is none.
std::string RemoteMirror::result_here(const Foreseen& action) const {
  for (const std::string& text : cache_.find_records(action.key)) {
    const auto record = parse_record(text);
    if (record && !record->result.empty() && action.holds(*record)) return record->result.digest;
  }
  return "";
}

void RemoteMirror::prefetch(const std::vector<Foreseen>& actions) {
  std::vector<std::string> unknown;
  std::set<std::string> results;
  const auto want = [&](const std::string& result) {
    if (!result.empty() && !actions_.has({result}).front()) results.insert(result);
  };
  std::vector<const Foreseen*> open;
  for (const Foreseen& action : actions) {
    const std::string result = result_here(action);
    want(result);
    if (!result.empty()) continue;
    unknown.push_back(action.key);
    open.push_back(&action);
  }
  fetch_records(unknown);
  for (const Foreseen* action : open)
    want(result_here(*action));
  (void)fetch_results({results.begin(), results.end()});
  const std::lock_guard lock(mutex_);
  for (const std::string& key : unknown)
    asked_.insert(action_name(UpstreamKind::records, key).digest);
}

bool RemoteMirror::fetch(UpstreamKind what, const std::string& key) {
  if (is_off(Direction::in)) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!asked_.insert(action_name(what, key).digest).second) return false;  // once a build
  }
  if (what == UpstreamKind::result) return fetch_results({key}) > 0;
  const auto before = actions_.find({key}).front();
  fetch_records({key});
  return actions_.find({key}).front() != before;
}

void RemoteMirror::added(UpstreamKind what, const std::string& key) {
  if (is_off(Direction::out)) return;
  const std::lock_guard lock(mutex_);
  queue_.push_back({what, key});
  changed_.notify_all();
}

// Of the local cache, each once.
void RemoteMirror::put_blobs(const std::vector<Upload>& uploads) {
  std::set<std::string> due;
  {
    const std::lock_guard lock(mutex_);
    for (const Upload& upload : uploads)
      for (const CachedFile& file : upload.files)
        if (!uploaded_.contains(file.digest)) due.insert(file.digest);
  }
  std::vector<std::string> digests(due.begin(), due.end());
  std::vector<RemoteFile> files;
  std::vector<RemoteOutput> outputs;
  auto texts = blobs_.find(digests);
  for (size_t i = 0; i < digests.size(); ++i) {
    auto packed = texts[i] ? compress(*texts[i]) : std::nullopt;
    if (!packed) continue;
    outputs.push_back({{"", digests[i], texts[i]->size()}, sha256(*packed), packed->size()});
    files.push_back({{RemoteKind::cas, outputs.back().digest}, std::move(*packed)});
  }
  const auto answers = put(files);
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < files.size(); ++i)
    if (answers[i].state == State::done) uploaded_.emplace(outputs[i].file.digest, outputs[i]);
}

// Entries go up after their files: nobody finds one without them.
size_t RemoteMirror::put_entries(UpstreamKind what, const std::vector<Upload>& uploads) {
  put_blobs(uploads);
  std::vector<RemoteFile> entries;
  for (const Upload& upload : uploads) {
    auto entry = entry_of(upload.files);
    if (!entry) continue;
    entry = merged(std::move(*entry), upload.there);
    if (*entry == upload.there) continue;
    const RemoteName name = action_name(what, upload.key);
    entries.push_back({name, render_entry(name.digest, *entry)});
  }
  const auto answers = put(entries);
  return static_cast<size_t>(std::ranges::count(answers, State::done, &RemoteAnswer::state));
}

// nullopt: some of the files are not there.
std::optional<RemoteEntry> RemoteMirror::entry_of(const std::vector<CachedFile>& files) const {
  const std::lock_guard lock(mutex_);
  RemoteEntry entry;
  for (const CachedFile& file : files) {
    const auto output = uploaded_.find(file.digest);
    if (output == uploaded_.end()) return std::nullopt;
    entry.push_back({file, output->second.digest, output->second.bytes});
  }
  return entry;
}

void RemoteMirror::upload_results(const std::vector<std::string>& keys) {
  const auto results = actions_.find(keys);
  std::vector<Upload> uploads;
  for (size_t i = 0; i < keys.size(); ++i)
    if (results[i]) uploads.push_back({keys[i], results[i]->outputs});
  const size_t uploaded = put_entries(UpstreamKind::result, uploads);
  const std::lock_guard lock(mutex_);
  uses_.uploaded += uploaded;
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
    changed_.wait(lock, [&] { return ends_ || !queue_.empty(); });
    if (ends_) return;
    std::deque<Added> batch = std::move(queue_);
    queue_.clear();
    is_uploading_ = true;
    lock.unlock();
    std::vector<std::string> results, records;
    for (const Added& added : batch) {
      std::vector<std::string>& keys = added.what == UpstreamKind::result ? results : records;
      if (std::ranges::find(keys, added.key) == keys.end()) keys.push_back(added.key);
    }
    upload_results(results);
    upload_records(records);
    lock.lock();
    is_uploading_ = false;
    changed_.notify_all();
  }
}

void RemoteMirror::finish(double most_seconds) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(most_seconds),
                      [&] { return queue_.empty() && !is_uploading_; });
    ends_ = true;
    changed_.notify_all();
  }
  if (!uploader_.joinable()) return;
  store_->cancel();
  uploader_.join();
}

MirrorUses RemoteMirror::uses() const {
  const std::lock_guard lock(mutex_);
  return uses_;
}

}  // namespace dsbuild
