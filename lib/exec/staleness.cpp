#include "exec/staleness.h"

#include <algorithm>

#include "base/build_layout.h"
#include "base/digest.h"
#include "base/text.h"
#include "inputs/path_origin.h"

namespace dsbuild {
namespace {

constexpr int64_t k_second_ns = 1'000'000'000;

// As the user knows it: "adam.cu" of "pack/adam.cu", "cuda/bin/nvcc" of "roots/cuda/bin/nvcc".
std::string shown(const std::string& path) {
  return is_in_pack(path) || is_in_roots(path) ? path.substr(path.find('/') + 1) : path;
}

std::set<std::string> lines_of(std::string_view text) {
  const std::vector<std::string> lines = split_lines(text);
  return {lines.begin(), lines.end()};
}

// The first line that one has and the other does not; "" where there is none.
std::string first_only_in(const std::set<std::string>& lines, const std::set<std::string>& others) {
  for (const std::string& line : lines)
    if (others.count(line) == 0) return line;
  return "";
}

std::string behind_first_word(const std::string& line) {
  const size_t space = line.find(' ');
  return space == std::string::npos ? line : line.substr(space + 1);
}

}  // namespace

std::string Change::where() const {
  return shown(path);
}

std::string Change::text() const {
  const std::string name = where();
  if (what == "file" || what == "tool" || what == "output") {
    const std::string who = what == "file" ? name : what + " " + name;
    if (now.empty()) return who + (before.empty() ? " cannot be read" : " is gone");
    return who + (before.empty() ? " is new" : " has changed");
  }
  if (what == "name") {
    if (before.empty()) return now + " has come to " + name;
    return before + " is gone from " + name;
  }
  if (what == "time") return "the times of " + name + " and " + now + " are " + before;
  if (what == "unsettled") return name + " changed while it was read";
  if (what == "incomplete") return name + " reads files that no compiler names";
  if (what == "clock") return name + " has the time of its compile in it";
  if (what == "mtime") return name + " has another time, which is read (__TIMESTAMP__)";
  if (what == "record") return before;
  if (before.empty()) return what + " " + now + " is new";
  if (now.empty()) return what + " " + before + " is gone";
  return what + " " + before + " is now " + now;
}

std::optional<Change> Staleness::find_staleness(const Record& record, const Key& key) {
  if (!record.unsettled.empty()) return Change{"unsettled", record.unsettled, "", ""};
  if (!record.incomplete.empty()) return Change{"incomplete", record.incomplete, "", ""};
  if (!record.clock.empty()) return Change{"clock", record.clock, "", ""};
  if (auto found = compare_keys(record.key, key)) return found;
  if (auto found = compare_files(record.inputs, "file")) return found;
  if (auto found = compare_others(record.others)) return found;
  if (auto found = compare_names(record)) return found;
  if (auto found = compare_file_times(record.file_times)) return found;
  return compare_times(record.equal_files);
}

std::optional<Change> Staleness::first_changed_output(const Record& record) {
  return compare_files(record.outputs, "output");
}

std::string Staleness::digest(const std::string& path) {
  const auto [known, is_new] = known_digests_.try_emplace(path);
  if (is_new) {
    known->second = digests_.digest(root_ / path).value_or("");
    if (!known->second.empty()) names_.note_file(path);
  }
  return known->second;
}

std::optional<Change> Staleness::compare_keys(const Key& before, const Key& now) {
  if (before == now) return std::nullopt;
  for (size_t i = 0; i < std::max(before.parts.size(), now.parts.size()); ++i) {
    const KeyPart old_part = i < before.parts.size() ? before.parts[i] : KeyPart{},
                  new_part = i < now.parts.size() ? now.parts[i] : KeyPart{};
    if (old_part == new_part) continue;
    if (old_part.name != new_part.name) return Change{"command", "", old_part.name, new_part.name};
    if (old_part.name == "tools") return compare_tools(old_part.value, new_part.value);
    if (old_part.name == "command") return compare_commands(old_part.value, new_part.value);
    return Change{old_part.name, "", old_part.value, new_part.value};
  }
  return std::nullopt;
}

std::optional<Change> Staleness::compare_files(const std::vector<FileDigest>& files, const char* what) {
  for (const FileDigest& file : files)
    if (const std::string now = digest(file.path); now != file.digest)
      return Change{what, file.path, file.digest, now};
  return std::nullopt;
}

std::optional<Change> Staleness::compare_others(const std::string& list) {
  const auto [known, is_new] = known_lists_.try_emplace(list);
  if (!is_new) return known->second;
  const auto text = lists_.find(list);
  if (!text) return known->second = Change{"record", "", "the list of headers is lost", ""};
  for (const std::string& line : split_lines(*text)) {
    const std::string path = behind_first_word(line), before = line.substr(0, line.find(' '));
    if (const std::string now = digest(path); now != before)
      return known->second = Change{"file", path, before, now};
  }
  return std::nullopt;
}

std::optional<Change> Staleness::compare_names(const Record& record) {
  if (record.search.empty()) return std::nullopt;
  const auto [known, is_new] = known_names_.try_emplace(record.search);
  if (is_new) {
    const auto search = lists_.find(record.search);
    if (!search) return Change{"record", "", "the list of names is lost", ""};
    known->second = names_.present(parse_search(*search));
  }
  if ((known->second.empty() ? "" : sha256(known->second)) == record.present) return std::nullopt;
  const auto before = lists_.find(record.present);
  if (!before) return Change{"record", "", "the list of names is lost", ""};
  const auto old_lines = lines_of(*before), new_lines = lines_of(known->second);
  const std::string come = first_only_in(new_lines, old_lines), gone = first_only_in(old_lines, new_lines);
  const PresentName name = parse_present(come.empty() ? gone : come);
  return come.empty() ? Change{"name", name.folder, name.text(), ""}
                      : Change{"name", name.folder, "", name.text()};
}

std::optional<Change> Staleness::compare_times(const std::vector<EqualFiles>& files) {
  for (const EqualFiles& pair : files) {
    if (digest(pair.first) != digest(pair.second))
      return Change{"file", pair.second, "equal", digest(pair.second)};
    if (have_same_time(root_ / pair.first, root_ / pair.second, files_) != pair.same_time)
      return Change{"time", pair.first, pair.same_time ? "no longer equal" : "equal now", pair.second};
  }
  return std::nullopt;
}

std::optional<Change> Staleness::compare_file_times(const std::vector<FileTime>& times) {
  for (const FileTime& time : times)
    if (const auto now = mtime_in_seconds(root_ / time.path, files_); now != time.seconds)
      return Change{"mtime", time.path, std::to_string(time.seconds), now ? std::to_string(*now) : ""};
  return std::nullopt;
}

// Lists of "<digest> <path>".
Change Staleness::compare_tools(const std::string& before, const std::string& now) {
  const auto old_lines = lines_of(lists_.find(before).value_or("")),
             new_lines = lines_of(lists_.find(now).value_or(""));
  const std::string gone = first_only_in(old_lines, new_lines), come = first_only_in(new_lines, old_lines);
  const std::string& line = come.empty() ? gone : come;
  return {"tool", behind_first_word(line), old_lines.empty() ? "" : line.substr(0, line.find(' ')), now};
}

// Words, those of the step's file in place of its name.
Change Staleness::compare_commands(const std::string& before, const std::string& now) {
  const std::vector<std::string> old_words = shell_split(with_step_file(before)),
                                 new_words = shell_split(with_step_file(now));
  const auto [was, is] =
      std::mismatch(old_words.begin(), old_words.end(), new_words.begin(), new_words.end());
  if (was == old_words.end() && is == new_words.end()) return {"command", "", "", ""};
  if (was == old_words.end()) return {"option", "", "", *is};
  if (is == new_words.end()) return {"option", "", *was, ""};
  if (std::find(is, new_words.end(), *was) != new_words.end()) return {"option", "", "", *is};
  if (std::find(was, old_words.end(), *is) != old_words.end()) return {"option", "", *was, ""};
  return {"option", "", *was, *is};
}

std::string Staleness::with_step_file(const std::string& command) {
  std::string text;
  for (const std::string& word : shell_split(command)) {
    const auto step = word.starts_with(std::string(k_steps_folder) + "/") ? files_.read_file(root_ / word)
                                                                          : Result<std::string>("");
    text += " " + (step && !step->empty() ? replace_all(*step, "\n", " ") : shell_quote(word));
  }
  return text;
}

std::optional<int64_t> mtime_in_seconds(const Path& file, const FileReader& files) {
  const auto identity = files.identity(file);
  return identity ? std::optional(identity->mtime_ns / k_second_ns) : std::nullopt;
}

bool have_same_time(const Path& first, const Path& second, const FileReader& files) {
  const auto time = mtime_in_seconds(first, files);
  return time && time == mtime_in_seconds(second, files);
}

}  // namespace dsbuild
