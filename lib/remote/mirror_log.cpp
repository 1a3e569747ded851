#include "remote/mirror_log.h"

#include <algorithm>

#include "sys/clock.h"

namespace dsbuild {

std::string text_of_miss(RemoteFinding finding, const std::string& scope) {
  switch (finding) {
    case RemoteFinding::absent:
      return k_nobody + (scope.empty() ? std::string() : " (scope " + scope + ")");
    case RemoteFinding::lost:
      return "found, but its files are gone";
    case RemoteFinding::damaged:
      return "refused: it is damaged";
    case RemoteFinding::untrusted:
      return "refused: no trusted key has signed it";
    case RemoteFinding::not_asked:
    case RemoteFinding::found:
      break;
  }
  return "";
}

std::string text_of_lost_result(RemoteFinding finding) {
  return finding == RemoteFinding::absent ? "found, but its result is gone" : text_of_miss(finding, "");
}

void MirrorLog::note(UpstreamKind what, const std::string& key, RemoteFinding finding) {
  const std::lock_guard lock(mutex_);
  of(what)[key] = finding;
}

void MirrorLog::note_file(const std::string& digest, RemoteFinding finding) {
  const std::lock_guard lock(mutex_);
  files_[digest] = finding;
}

void MirrorLog::note_entry(UpstreamKind what, const std::string& key, const RemoteEntry& entry,
                           const std::set<std::string>& here) {
  const std::lock_guard lock(mutex_);
  bool is_whole = true;
  RemoteFinding missing = RemoteFinding::not_asked;
  std::vector<std::string> records;
  for (const RemoteOutput& output : entry) {
    const std::string& digest = output.file.digest;
    if (here.contains(digest)) {
      if (output.file.name == digest) records.push_back(digest);
      continue;
    }
    is_whole = is_whole && is_base(output);  // a base is lost with what is packed with it
    if (const auto file = files_.find(digest); file != files_.end())
      missing = std::max(missing, file->second);
  }
  const bool is_found = what == UpstreamKind::result ? is_whole : !records.empty();
  of(what)[key] = is_found ? RemoteFinding::found : missing;
  if (what == UpstreamKind::records) records_[key] = std::move(records);
}

RemoteFinding MirrorLog::finding(UpstreamKind what, const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const Findings& findings = what == UpstreamKind::result ? results_ : lists_;
  const auto found = findings.find(key);
  return found == findings.end() ? RemoteFinding::not_asked : found->second;
}

std::vector<std::string> MirrorLog::records(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(key);
  return found == records_.end() ? std::vector<std::string>{} : found->second;
}

uint64_t MirrorLog::count(RemoteFinding finding) const {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const auto& note) { return note.second == finding; };
  return static_cast<uint64_t>(std::ranges::count_if(results_, is_it) + std::ranges::count_if(lists_, is_it));
}

bool MirrorLog::note_use(const std::string& result, uint64_t milliseconds) {
  const std::lock_guard lock(mutex_);
  const auto found = results_.find(result);
  if (found == results_.end() || found->second != RemoteFinding::found) return false;
  saved_milliseconds_ += milliseconds;
  return true;
}

uint64_t MirrorLog::saved_milliseconds() const {
  const std::lock_guard lock(mutex_);
  return saved_milliseconds_;
}

MirrorLog::Timer::Timer(MirrorLog& log, const char* what)
    : log_(log), what_(what), begin_(steady_seconds()) {}

MirrorLog::Timer::~Timer() {
  const std::lock_guard lock(log_.mutex_);
  log_.spans_.push_back({what_, begin_, steady_seconds()});
}

std::vector<RemoteSpan> MirrorLog::spans() const {
  const std::lock_guard lock(mutex_);
  return spans_;
}

}  // namespace dsbuild
