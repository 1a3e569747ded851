#include "remote/mirror.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/digest.h"
#include "base/text.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr int k_most_failures = 3;  // in a row
// Asked for in one call at first, so that a slow store is found early; twice as many while it is quick. Fewer
// are no measure of its speed.
constexpr std::ptrdiff_t k_first_together = 32;
constexpr size_t k_least_together = 16;
constexpr double k_quick_seconds = 1;

using State = RemoteAnswer::State;

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

RemoteMirror::RemoteMirror(std::shared_ptr<RemoteStore> store, FileSystem& files, const Path& local,
                           MirrorOptions options)
    : store_(std::move(store)),
      folder_(files, local),
      actions_(folder_),
      blobs_(folder_),
      cache_(files, local),
      options_(std::move(options)),
      packer_(blobs_, store_->takes_contents()),
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

void RemoteMirror::judge_speed(const std::vector<RemoteAnswer>& answers, double seconds) {
  if (answers.size() < k_least_together) return;  // of one step
  const std::lock_guard lock(mutex_);
  for (const RemoteAnswer& answer : answers)
    bytes_together_ += answer.bytes.size();
  seconds_together_ += seconds;
  const bool is_slow =
      seconds_together_ > options_.most_seconds_slow &&
      static_cast<double>(bytes_together_) < seconds_together_ * options_.least_bytes_per_second;
  if (is_slow && uses_.off.empty())
    uses_.off = "it is slow: " + human_size(bytes_together_) + " in " +
                std::to_string(std::lround(seconds_together_)) + " s";
}

std::vector<RemoteAnswer> RemoteMirror::get(const std::vector<RemoteName>& names) {
  std::vector<RemoteAnswer> answers;
  std::ptrdiff_t most = k_first_together;
  while (answers.size() < names.size() && !is_off(Direction::in)) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(answers.size());
    const auto count = std::min<std::ptrdiff_t>(most, names.end() - begin);
    const double start = steady_seconds();
    auto some = store_->get({begin, begin + count});
    judge(some, Direction::in);
    const double seconds = steady_seconds() - start;
    judge_speed(some, seconds);
    if (seconds < k_quick_seconds) most *= 2;
    std::ranges::move(some, std::back_inserter(answers));
  }
  const std::lock_guard lock(mutex_);
  for (const RemoteAnswer& answer : answers)
    uses_.bytes_in += answer.bytes.size();
  answers.resize(names.size());
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
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_there = answers[i].state == State::done;
    entries.push_back(is_there ? parse_entry(names[i].digest, answers[i].bytes) : std::nullopt);
    if (answers[i].state == State::absent) log_.note(what, keys[i], RemoteFinding::absent);
    if (is_there && !entries.back()) log_.note(what, keys[i], RemoteFinding::damaged);
    if (entries.back()) entries.back() = trusted(what, names[i].digest, keys[i], std::move(*entries.back()));
  }
  return entries;
}

RemoteEntry RemoteMirror::trusted(UpstreamKind what, const std::string& name, const std::string& key,
                                  RemoteEntry entry) {
  if (options_.keys.trusted.empty()) return entry;
  TrustedEntry trusted = trusted_parts(what, name, entry, options_.keys.trusted);
  if (trusted.refusal.empty()) return std::move(trusted.entry);
  if (trusted.entry.empty()) log_.note(what, key, RemoteFinding::untrusted);
  const std::lock_guard lock(mutex_);
  untrusted_.insert(name);
  uses_.untrusted = untrusted_.size();
  if (uses_.untrusted_why.empty()) uses_.untrusted_why = trusted.refusal;
  return std::move(trusted.entry);
}

// An entry of here as it goes up: with what is there already, whose parts keep their signatures. Only what is
// of here is signed. Whether it is another than is there.
bool RemoteMirror::complete(UpstreamKind what, const std::string& name, const RemoteEntry& there,
                            RemoteEntry& entry) const {
  keep_signatures(what, there, entry);
  if (options_.keys.own && !sign_parts(what, name, *options_.keys.own, entry)) return false;
  entry = merged(std::move(entry), there);
  return entry != there;
}

// Which files of the entries are here now, by their digests here.
std::set<std::string> RemoteMirror::get_blobs(const std::vector<std::optional<RemoteEntry>>& entries) {
  FileUnpacker unpacker(blobs_);
  for (const auto& entry : entries)
    if (entry) unpacker.add(*entry);
  const std::vector<RemoteOutput> outputs = unpacker.missing();
  std::vector<RemoteName> names;
  for (const RemoteOutput& output : outputs)
    names.push_back({RemoteKind::cas, output.digest, output.bytes});
  std::vector<RemoteAnswer> answers = get(names);
  for (size_t i = 0; i < names.size(); ++i) {
    if (answers[i].state == State::absent) log_.note_file(outputs[i].file.digest, RemoteFinding::lost);
    if (answers[i].state == State::done) unpacker.take(outputs[i], std::move(answers[i].bytes));
  }
  std::set<std::string> here = unpacker.unpack();
  for (const std::string& digest : unpacker.damaged())
    log_.note_file(digest, RemoteFinding::damaged);
  return here;
}

size_t RemoteMirror::fetch_results(const std::vector<std::string>& keys) {
  const auto entries = get_entries(UpstreamKind::result, keys);
  const std::set<std::string> here = get_blobs(entries);
  size_t found = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!entries[i] || entries[i]->empty()) continue;
    log_.note_entry(UpstreamKind::result, keys[i], *entries[i], here);
    ActionResult result;
    for (const RemoteOutput& output : *entries[i])
      if (!is_base(output)) result.outputs.push_back(output.file);
    if (!std::ranges::all_of(result.outputs, [&](const auto& file) { return here.contains(file.digest); }))
      continue;
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
    if (entries[i] && !entries[i]->empty())
      log_.note_entry(UpstreamKind::records, keys[i], *entries[i], here);
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

// The first that holds.
std::optional<Record> RemoteMirror::record_here(const Foreseen& action) const {
  for (const std::string& text : cache_.find_records(action.key)) {
    auto record = parse_record(text);
    if (record && !record->result.empty() && action.holds(*record)) return record;
  }
  return std::nullopt;
}

// Takes out those whose record is here, and adds the results that they lack. One that holds may let others
// hold that read what it makes.
void RemoteMirror::settle(std::vector<const Foreseen*>& open, std::set<std::string>& results) const {
  const auto is_settled = [&](const Foreseen* action) {
    const auto record = record_here(*action);
    if (!record) return false;
    for (const std::string& result : {record->result.digest, record->images})
      if (!result.empty() && !actions_.has({result}).front()) results.insert(result);
    return true;
  };
  while (std::erase_if(open, is_settled) > 0) {
  }
}

// Nobody asks again.
void RemoteMirror::note_asked(UpstreamKind what, const std::vector<std::string>& keys) {
  std::promise<bool> nothing_more;
  nothing_more.set_value(false);
  const std::shared_future<bool> answer = nothing_more.get_future().share();
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys)
    asked_.emplace(action_name(what, key).digest, answer);
}

void RemoteMirror::prefetch(const std::vector<Foreseen>& actions) {
  if (options_.pushes) return;
  const MirrorLog::Timer timer(log_, k_prefetch_span);
  std::vector<const Foreseen*> open;
  for (const Foreseen& action : actions)
    open.push_back(&action);
  std::set<std::string> results;
  settle(open, results);
  std::vector<std::string> unknown;
  for (const Foreseen* action : open)
    unknown.push_back(action->key);
  fetch_records(unknown);
  settle(open, results);
  const std::vector<std::string> wanted(results.begin(), results.end());
  (void)fetch_results(wanted);
  note_asked(UpstreamKind::records, unknown);
  note_asked(UpstreamKind::result, wanted);
}

// Once a build. Who asks while another step's question is on its way waits for its answer.
bool RemoteMirror::fetch(UpstreamKind what, const std::string& key) {
  if (is_off(Direction::in) || options_.pushes) return false;
  std::promise<bool> answer;
  std::shared_future<bool> first;
  {
    const std::lock_guard lock(mutex_);
    const auto [asked, is_new] = asked_.try_emplace(action_name(what, key).digest);
    if (is_new)
      asked->second = answer.get_future().share();
    else
      first = asked->second;
  }
  if (first.valid()) return first.get();
  const MirrorLog::Timer timer(log_, k_fetch_span);
  const bool found = fetch_now(what, key);
  answer.set_value(found);
  return found;
}

bool RemoteMirror::fetch_now(UpstreamKind what, const std::string& key) {
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

void RemoteMirror::found(UpstreamKind what, const std::string& key) {
  if (!options_.pushes) return;
  {
    const std::lock_guard lock(mutex_);
    if (!found_.insert(action_name(what, key).digest).second) return;
  }
  added(what, key);
}

size_t RemoteMirror::pull(const std::vector<UpstreamItem>& items) {
  std::vector<std::string> results, records;
  for (const UpstreamItem& item : items)
    (item.what == UpstreamKind::result ? results : records).push_back(item.key);
  fetch_records(records);
  const std::vector<bool> has = actions_.has(records);
  return fetch_results(results) + static_cast<size_t>(std::ranges::count(has, true));
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

// Entries go up after their files: nobody finds one without them.
size_t RemoteMirror::put_entries(UpstreamKind what, const std::vector<Upload>& uploads) {
  put_blobs(what, uploads);
  std::vector<RemoteFile> entries;
  std::vector<UpstreamItem> items;
  for (const Upload& upload : uploads) {
    auto entry = packer_.entry_of(upload.files);
    if (!entry) continue;
    const RemoteName name = action_name(what, upload.key);
    if (!complete(what, name.digest, upload.there, *entry)) continue;
    entries.push_back({name, render_entry(name.digest, *entry)});
    items.push_back({what, upload.key});
  }
  const auto answers = put(entries);
  const std::lock_guard lock(mutex_);
  const size_t before = pushed_.size();
  for (size_t i = 0; i < items.size(); ++i)
    if (answers[i].state == State::done) pushed_.push_back(items[i]);
  return pushed_.size() - before;
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
    const std::vector<UpstreamItem> batch(queue_.begin(), queue_.end());
    queue_.clear();
    is_uploading_ = true;
    lock.unlock();
    push(batch);
    lock.lock();
    is_uploading_ = false;
    changed_.notify_all();
  }
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
  MirrorUses uses = uses_;
  uses.lost = log_.count(RemoteFinding::lost);
  uses.damaged = log_.count(RemoteFinding::damaged);
  uses.saved_milliseconds = log_.saved_milliseconds();
  uses.requests = store_->requests().value_or(uses.requests);
  return uses;
}

}  // namespace dsbuild
