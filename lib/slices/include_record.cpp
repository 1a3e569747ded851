#include "slices/include_record.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "slices/header_names.h"
#include "slices/kept_results.h"
#include "slices/unnamed_files.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

bool is_of_project(const Path& path) {
  return path.is_relative();
}

// What lies in the build folder itself: the plan or another step wrote it, and was done before the steps that
// read it began, however shortly before. A source or a package may be saved while it is read.
bool is_of_build(const Path& path) {
  return path.is_relative() && !is_in_pack(path.native()) && !path.native().starts_with("..");
}

// How a line of a record begins.
constexpr const char* k_file = "file";      // counts by its bytes, or by size and time
constexpr const char* k_folder = "folder";  // counts by the names in it

// "" for what is not there.
std::string identity_of_file(const Path& path, const FileReader& files) {
  if (!is_of_project(path)) return size_and_time(path, files);
  const auto bytes = files.read_file(path);
  return bytes ? sha256(*bytes) : "";
}

std::string identity_of_folder(const std::string& path, HeaderNames& names, const FileReader& files) {
  if (is_of_project(path)) return names.digest({path});
  const auto identity = files.identity(path);
  return identity ? std::to_string(identity->mtime_ns) : "";
}

std::string identity_of(const std::string& kind, const std::string& path, HeaderNames& names,
                        const FileReader& files) {
  return kind == k_folder ? identity_of_folder(path, names, files) : identity_of_file(path, files);
}

std::string parent_of(const std::string& path) {
  return Path(path).parent_path().string();
}

// A name is looked for beside the file that includes it and in each search folder, where a new file may come
// before the one that was found: the folders in which that could be. What a name's own folders are ("sub" of
// "sub/x.h") is known from where it was found.
std::set<std::string> places_of(const std::vector<std::string>& read, const std::vector<std::string>& command,
                                const FileReader& files) {
  std::set<std::string> roots = search_folders(command), places, named;
  for (const std::string& file : read) {
    places.insert(parent_of(file));
    if (is_of_project(file)) roots.insert(parent_of(file));
  }
  std::erase_if(places, is_of_build);
  std::erase_if(roots, is_of_build);
  for (const std::string& folder : places)
    for (const std::string& root : roots)
      if (folder.starts_with(root + "/"))
        for (std::string name = folder.substr(root.size() + 1); !name.empty(); name = parent_of(name))
          named.insert(name);
  for (const std::string& root : roots) {
    places.insert(root);
    if (is_of_project(root)) continue;  // all below it counts
    for (const std::string& name : named)
      if (files.kind(root + "/" + name) == FileKind::directory) places.insert(root + "/" + name);
  }
  return places;
}

bool read_unnamed_files(const std::vector<std::string>& read, const FileReader& files) {
  return std::any_of(read.begin(), read.end(), [&](const std::string& file) {
    if (!is_of_project(file)) return false;
    const auto text = files.read_file(file);
    return text && reads_unnamed_files(*text);
  });
}

bool changed_since(const Path& file, int64_t begin_ns, const FileReader& files) {
  const auto identity = files.identity(file);
  return !identity || std::max(identity->mtime_ns, identity->ctime_ns) >= begin_ns - k_file_clock_step_ns;
}

// Whether a name came or went: what was read then may be another file than what would be read now.
bool names_changed_since(const Path& folder, int64_t begin_ns, HeaderNames& names, const FileReader& files) {
  if (!is_of_project(folder)) return files.identity(folder) && changed_since(folder, begin_ns, files);
  return names.last_change_ns({folder.string()}) >= begin_ns - k_file_clock_step_ns;
}

}  // namespace

std::set<std::string> search_folders(const std::vector<std::string>& command) {
  static const std::vector<std::string> options = {"-isystem", "-iquote", "-idirafter", "-I"};
  std::set<std::string> folders;
  for (size_t i = 0; i < command.size(); ++i) {
    for (const std::string& option : options) {
      if (!command[i].starts_with(option)) continue;
      const std::string value = command[i].substr(option.size());
      if (!value.empty())
        folders.insert(value);
      else if (i + 1 < command.size())
        folders.insert(command[i + 1]);
      break;
    }
  }
  return folders;
}

std::vector<std::string> files_in_depfile(std::string_view depfile) {
  constexpr std::string_view k_escaped = " #:";
  std::vector<std::string> files;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, {}));
  };
  for (size_t i = 0; i < depfile.size(); ++i) {
    const char c = depfile[i], next = i + 1 < depfile.size() ? depfile[i + 1] : '\n';
    if (c == '\\' && next == '\n') {
      finish();
      ++i;
    } else if ((c == '\\' && k_escaped.find(next) != k_escaped.npos) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n') {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  if (!files.empty()) files.erase(files.begin());                          // the target
  if (!files.empty() && files.front() == ":") files.erase(files.begin());  // of nvcc's "x.o : a.cu"
  return files;
}

std::string render_include_record(const IncludeRecord& record, const std::vector<std::string>& command,
                                  int64_t begin_ns, const FileReader& files) {
  if (read_unnamed_files(record.files, files)) return "";
  HeaderNames names(k_pack_folder, files);
  const std::set<std::string> places = places_of(record.files, command, files);
  std::string text = "result " + record.result + "\n";
  const auto add = [&](const std::string& kind, const std::string& path) {
    text += kind + " " + identity_of(kind, path, names, files) + " " + path + "\n";
  };
  for (const std::string& file : record.files)
    add(k_file, file);
  for (const std::string& place : places)
    add(k_folder, place);
  // Asked after all was read, so that the text is of what the step has read too.
  const bool changed =
      std::any_of(
          record.files.begin(), record.files.end(),
          [&](const Path& file) { return !is_of_build(file) && changed_since(file, begin_ns, files); }) ||
      std::any_of(places.begin(), places.end(),
                  [&](const Path& place) { return names_changed_since(place, begin_ns, names, files); });
  return changed ? "" : text;
}

std::optional<IncludeRecord> read_include_record(std::string_view text, const FileReader& files) {
  IncludeRecord record;
  HeaderNames names(k_pack_folder, files);
  for (const std::string& line : split_lines(text)) {
    const size_t first = line.find(' '), second = line.find(' ', first + 1);
    const std::string word = line.substr(0, first);
    if (word == "result") {
      record.result = line.substr(first + 1);
      continue;
    }
    if (second == std::string::npos) return std::nullopt;
    const std::string identity = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (identity != identity_of(word, path, names, files)) return std::nullopt;
    if (word != k_folder) record.files.push_back(path);
  }
  return record;
}

std::string render_depfile(const std::string& target, const std::vector<std::string>& files) {
  std::string text = target + ":";
  for (const std::string& file : files) {
    text += ' ';
    for (const char c : file) {
      if (c == '$') text += '$';
      if (c == ' ' || c == '#') text += '\\';
      text += c;
    }
  }
  return text + "\n";
}

std::optional<IncludeRecord> find_include_record(const ContentStore& store, const std::string& key,
                                                 const FileReader& files) {
  const auto entry = store.find(key);
  if (!entry) return std::nullopt;
  for (const StoredFile& file : *entry)
    if (auto record = read_include_record(file.bytes, files)) return record;
  return std::nullopt;
}

void add_include_record(const ContentStore& store, const std::string& key, const std::string& text) {
  constexpr size_t k_kept_records = 4;
  if (text.empty()) return;
  StoreEntry entry = {{"includes", text}};
  if (const auto before = store.find(key))
    std::copy_if(before->begin(), before->end(), std::back_inserter(entry),
                 [&](const StoredFile& file) { return file.bytes != text; });
  entry.resize(std::min(entry.size(), k_kept_records));
  store.put(key, entry);
}

}  // namespace dsbuild
