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

}  // namespace

RemoteMirror::RemoteMirror(std::shared_ptr<RemoteStore> store, FileSystem& files, const Path& local,
                           MirrorOptions options)
    : store_(std::move(store)),
      folder_(files, local),
      actions_(folder_),
      blobs_(folder_),
      cache_(files, local),
      options_(std::move(options)),
      began_(options_.clock()),
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
  uses_.counts.requests += answers.size();
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
    uses_.counts.received_bytes += answer.bytes.size();
  answers.resize(names.size());
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
  uses_.counts.untrusted = untrusted_.size();
  if (uses_.untrusted_why.empty()) uses_.untrusted_why = trusted.refusal;
  return std::move(trusted.entry);
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
    note_age(UpstreamKind::result, keys[i], *entries[i]);
    ActionResult result;
    for (const RemoteOutput& output : *entries[i])
      if (!is_base(output)) result.outputs.push_back(output.file);
    if (!std::ranges::all_of(result.outputs, [&](const auto& file) { return here.contains(file.digest); }))
      continue;
    actions_.put(keys[i], result);
    ++found;
  }
  const std::lock_guard lock(mutex_);
  uses_.counts.hits += found;
  uses_.counts.misses += keys.size() - found;
  return found;
}

// The lists of records here have them, then.
void RemoteMirror::fetch_records(const std::vector<std::string>& keys) {
  const auto entries = get_entries(UpstreamKind::records, keys);
  const std::set<std::string> here = get_blobs(entries);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (entries[i] && !entries[i]->empty()) {
      log_.note_entry(UpstreamKind::records, keys[i], *entries[i], here);
      note_age(UpstreamKind::records, keys[i], *entries[i]);
    }
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

void RemoteMirror::fetch_together(UpstreamKind what, const std::vector<std::string>& keys) {
  if (keys.empty() || is_off(Direction::in) || options_.pushes) return;
  const MirrorLog::Timer timer(log_, k_prefetch_span);
  if (what == UpstreamKind::result)
    (void)fetch_results(keys);
  else
    fetch_records(keys);
  note_asked(what, keys);
}

bool RemoteMirror::fetch_now(UpstreamKind what, const std::string& key) {
  if (what == UpstreamKind::result) return fetch_results({key}) > 0;
  const auto before = actions_.find({key}).front();
  fetch_records({key});
  return actions_.find({key}).front() != before;
}

size_t RemoteMirror::pull(const std::vector<UpstreamItem>& items) {
  std::vector<std::string> results, records;
  for (const UpstreamItem& item : items)
    (item.what == UpstreamKind::result ? results : records).push_back(item.key);
  fetch_records(records);
  const std::vector<bool> has = actions_.has(records);
  return fetch_results(results) + static_cast<size_t>(std::ranges::count(has, true));
}

MirrorUses RemoteMirror::uses() const {
  const std::lock_guard lock(mutex_);
  MirrorUses uses = uses_;
  uses.unsent = unsent_.size();
  uses.counts.lost = log_.count(RemoteFinding::lost);
  uses.counts.damaged = log_.count(RemoteFinding::damaged);
  uses.counts.saved_milliseconds = log_.saved_milliseconds();
  uses.counts.requests = store_->requests().value_or(uses.counts.requests);
  uses.counts.fallbacks = uses.off.empty() ? 0 : 1;
  return uses;
}

}  // namespace dsbuild
