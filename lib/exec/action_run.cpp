#include "exec/action_run.h"

#include <algorithm>

#include "base/build_layout.h"
#include "inputs/path_origin.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

std::string text_of(const Path& file, const FileReader& files) {
  const auto text = files.read_file(file);
  return text ? *text : "";
}

Path folder_named_by(const char* file, const FileReader& files) {
  return trim(text_of(file, files));
}

}  // namespace

std::optional<TieredCache> store_of_build(System& system) {
  const Path folder = folder_named_by(k_local_cache_file, system.files);
  if (folder.empty()) return std::nullopt;
  return TieredCache(system.files, folder, upstream_of_build(system.environment));
}

ActionRun::ActionRun(const StepWords& words, System& system, Cache cache)
    : files_(system.files),
      tools_file_(tools_file_of(words)),
      output_(output_of(words)),
      cache_(cache == Cache::used ? store_of_build(system) : std::nullopt),
      digests_(files_, folder_named_by(k_digest_memo_file, files_), trust_of(system.environment)),
      lists_(files_, "", cache_),
      key_(action_key({words, files_.absolute(".").string(),
                       [this](const std::string& path) -> std::optional<std::string> {
                         auto text = files_.read_file(path);
                         return text ? std::optional(std::move(*text)) : std::nullopt;
                       }},
                      lists_)),
      staleness_("", files_, digests_, lists_),
      maker_(key_, pins_clock(system), {files_, digests_, lists_, staleness_}) {
  const auto made = files_.read_file(record_file(output_));
  const auto text = made ? made : files_.read_file(old_record_file(output_));
  if (text) last_ = parse_record(*text);
}

bool ActionRun::is_up_to_date() {
  return last_ && files_.kind(record_file(output_)) == FileKind::file &&
         !staleness_.find_staleness(*last_, key_) && !staleness_.first_changed_output(*last_);
}

void ActionRun::begin() {
  if (files_.kind(record_file(output_)) == FileKind::file)
    (void)files_.rename(record_file(output_), old_record_file(output_));
}

bool ActionRun::has_last_outputs() {
  return last_ && !last_->outputs.empty() && !staleness_.first_changed_output(*last_);
}

std::optional<Record> ActionRun::lookup() {
  return find_record(key_.digest(), Command::same);
}

std::optional<Record> ActionRun::lookup_text(const std::string& given, const std::vector<std::string>& text) {
  if (last_ && last_->given == given) {
    Record last = *last_;
    std::erase_if(last.inputs, [&](const FileDigest& input) {
      return std::find(text.begin(), text.end(), input.path) != text.end();
    });
    if (!staleness_.find_staleness(last, key_)) return last;
  }
  return find_record(key_of_text({}, given), Command::any);
}

void ActionRun::note_difference() {
  // An object that differs is no cause: the edge that made it says its own.
  const bool is_cause = difference_ && (difference_->path.empty() || !is_of_build(difference_->path));
  if (is_cause && !last_) note_cache_difference(difference_->text(), files_);
}

bool ActionRun::assembler_tells() {
  const std::vector<std::string> telling = split_lines(text_of(k_assemblers_file, files_));
  return std::find(telling.begin(), telling.end(), tools_file_) != telling.end();
}

bool ActionRun::pins_clock(const System& system) {
  return has_source_date(system.environment) && assembler_tells();
}

std::string ActionRun::key_of_text(const std::vector<std::string>& command, std::string_view text) const {
  return key_.with(k_command_part, shell_join(command)).add_bytes("text", text).digest();
}

std::optional<Record> ActionRun::find_record(const std::string& key, Command command) {
  difference_ = std::nullopt;
  if (!cache_) return std::nullopt;
  auto record = find_record_here(key, command);
  return record || !cache_->fetch_records(key) ? std::move(record) : find_record_here(key, command);
}

std::optional<Record> ActionRun::find_record_here(const std::string& key, Command command) {
  std::optional<Change> newest;
  for (const std::string& text : cache_->find_records(key)) {
    auto record = parse_record(text);
    if (!record) continue;
    auto difference = staleness_.find_staleness(*record, command == Command::same ? key_ : record->key);
    if (!difference) return record;
    if (!newest) newest = std::move(difference);
  }
  difference_ = std::move(newest);
  return std::nullopt;
}

Result<std::vector<FileDigest>> ActionRun::digests_of(const std::vector<std::string>& outputs) {
  std::vector<FileDigest> files;
  for (const std::string& output : outputs) {
    DSBUILD_TRY(digest, digests_.digest(output));
    files.push_back({output, digest});
  }
  std::ranges::sort(files, {}, &FileDigest::path);  // the same record, however they were found
  return files;
}

Result<void> ActionRun::write(Record record) {
  record.key = key_;
  DSBUILD_CHECK(files_.write_file(record_file(output_), render_record(record)));
  (void)files_.remove_all(old_record_file(output_));
  last_ = std::move(record);
  return {};
}

void ActionRun::put_record(const std::string& key, Record record) {
  if (!cache_ || !can_hold(record) || record.result.empty()) return;
  record.key = key_;
  cache_->put_record(key, render_record(record));
}

}  // namespace dsbuild
