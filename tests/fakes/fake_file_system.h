// A disk in memory, for tests: answers as the real one does, remembers what was read, written and
// removed, and fails where it is told to. Each change takes one tick of a logical clock, so that
// identities differ exactly when a file was written.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

class FakeFileSystem : public FileSystem {
 public:
  Path current = "/project";

  // What the stages did, as absolute paths in order. Setting up with add_… is not logged.
  mutable std::vector<std::string> reads;
  std::vector<std::string> writes;
  std::vector<std::string> removals;

  bool can_exchange = true;

  void add_file(const Path& path, std::string bytes, bool executable = false) {
    const std::string key = resolve(path);
    add_directory(Path(key).parent_path());
    put(key, {Kind::file, std::move(bytes), executable});
  }
  void add_directory(const Path& path) {
    const std::string key = resolve(path);
    if (key == "/" || entries_.count(key) > 0) return;
    add_directory(Path(key).parent_path());
    put(key, {Kind::directory, "", false});
  }
  void add_link(const Path& link, const Path& target) {
    add_directory(link.parent_path());
    put(resolve_parent(link), {Kind::link, target.string(), false});
  }
  // A new tick without new content, as touch does.
  void touch(const Path& path) { entries_.at(resolve(path)).tick = ++clock_; }
  // As a write through a shared mapping may do: the identity stays.
  void change_unseen(const Path& path, std::string bytes) {
    entries_.at(resolve(path)).text = std::move(bytes);
  }
  // Every later write at or below `path` fails with `reason`; an empty reason ends that.
  void fail_writes(const Path& path, const std::string& reason) {
    if (reason.empty()) {
      write_faults_.erase(key_of(path));
    } else {
      write_faults_[key_of(path)] = reason;
    }
  }
  // Reading the file at `path` fails with `reason`.
  void fail_reads(const Path& path, const std::string& reason) { read_faults_[key_of(path)] = reason; }

  // What stands at `path` is met so by who opens it, whatever its kind.
  void set_opening(const Path& path, Opening opening) { openings_[resolve(path)] = opening; }

  // The bytes of a file; "" when there is none. Not logged.
  std::string bytes(const Path& path) const {
    const Entry* entry = entry_at(path);
    return entry && entry->kind == Kind::file ? entry->text : "";
  }
  bool exists(const Path& path) const { return kind(path) != FileKind::absent; }
  // All paths below `folder`, for comparing whole trees.
  std::vector<std::string> tree(const Path& folder) const {
    std::vector<std::string> paths;
    for (const auto& [key, entry] : entries_) {
      if (is_below(key, resolve(folder))) paths.push_back(key);
    }
    return paths;
  }

  Result<std::string> read_file(const Path& path) const override {
    reads.push_back(key_of(path));
    const auto fault = read_faults_.find(key_of(path));
    if (fault != read_faults_.end()) return error(path, "reading", fault->second);
    const Entry* entry = entry_at(path);
    if (!entry) return error(path, "reading", "No such file or directory");
    if (entry->kind != Kind::file) return error(path, "reading", "Is a directory");
    return entry->text;
  }
  Result<std::vector<std::string>> list(const Path& path) const override {
    reads.push_back(key_of(path));
    if (kind(path) == FileKind::absent) return error(path, "listing", "No such file or directory");
    if (kind(path) != FileKind::directory) return error(path, "listing", "Not a directory");
    const std::string folder = resolve(path);
    std::set<std::string> names;
    for (const auto& [key, entry] : entries_) {
      if (key != "/" && Path(key).parent_path() == folder) names.insert(Path(key).filename().string());
    }
    return std::vector<std::string>(names.begin(), names.end());
  }
  FileKind kind(const Path& path) const override {
    if (resolve(path) == "/") return FileKind::directory;
    const Entry* entry = entry_at(path);
    if (!entry || entry->kind == Kind::link) return FileKind::absent;
    return entry->kind == Kind::file ? FileKind::file : FileKind::directory;
  }
  FileKind own_kind(const Path& path) const override {
    const auto entry = entries_.find(resolve_parent(path));
    const bool is_link = entry != entries_.end() && entry->second.kind == Kind::link;
    return is_link ? FileKind::other : kind(path);
  }
  Opening opening(const Path& path) const override {
    const auto told = openings_.find(resolve(path));
    return told == openings_.end() ? FileSystem::opening(path) : told->second;
  }
  bool is_executable(const Path& path) const override {
    const Entry* entry = entry_at(path);
    return entry && entry->executable;
  }
  std::optional<FileIdentity> identity(const Path& path) const override {
    const Entry* entry = entry_at(path);
    if (!entry || entry->kind == Kind::link) return std::nullopt;
    return FileIdentity{1, entry->inode, entry->text.size(), entry->tick, entry->tick};
  }
  std::optional<Path> real_path(const Path& path) const override {
    if (kind(path) == FileKind::absent) return std::nullopt;
    return Path(resolve(path));
  }
  Path absolute(const Path& path) const override { return key_of(path); }
  bool others_can_write(const Path&) const override { return false; }
  std::optional<unsigned> owner(const Path& path) const override {
    const auto known = owners_.find(key_of(path));
    return known == owners_.end() ? 0U : known->second;
  }
  void set_owner(const Path& path, unsigned user) { owners_[key_of(path)] = user; }
  std::optional<uint64_t> free_bytes(const Path&) const override { return std::nullopt; }

  Result<void> write_file(const Path& path, std::string_view bytes, bool = false) override {
    if (auto checked = check_write(path); !checked) return checked;
    writes.push_back(key_of(path));
    put(resolve(path), {Kind::file, std::string(bytes), false});
    return {};
  }
  Result<void> append(const Path& path, std::string_view bytes) override {
    return write_file(path, this->bytes(path) + std::string(bytes));
  }
  Result<void> set_mtime(const Path& path, int64_t mtime_ns) override {
    const Entry* entry = entry_at(path);
    if (!entry) return error(path, "setting its time", "No such file or directory");
    entries_.at(resolve(path)).tick = mtime_ns;
    return {};
  }
  Result<void> make_directories(const Path& path) override {
    if (kind(path) == FileKind::directory) return {};
    if (kind(path) == FileKind::file) return error(path, "making the folder", "File exists");
    if (auto fault = write_fault(path)) return error(path, "making the folder", *fault);
    writes.push_back(key_of(path));
    add_directory(path);
    return {};
  }
  Result<void> copy_file(const Path& from, const Path& to, bool executable) override {
    auto bytes = read_file(from);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    if (auto checked = check_write(to); !checked) return checked;
    writes.push_back(key_of(to));
    put(resolve(to), {Kind::file, *bytes, executable});
    return {};
  }
  Result<void> make_symlink(const Path& target, const Path& link) override {
    if (auto checked = check_write(link); !checked) return checked;
    writes.push_back(key_of(link));
    put(resolve_parent(link), {Kind::link, target.string(), false});
    return {};
  }
  Result<void> rename(const Path& from, const Path& to) override {
    const std::string source = resolve_parent(from);
    const std::string target = resolve_parent(to);
    if (entries_.count(source) == 0) return error(from, "renaming", "No such file or directory");
    if (auto checked = check_write(to); !checked) return checked;
    if (!tree(target).empty()) return error(to, "renaming", "Directory not empty");
    writes.push_back(key_of(to));
    auto moved = take_tree(source);
    put_tree(target, std::move(moved));
    return {};
  }
  Result<void> exchange(const Path& a, const Path& b) override {
    if (!exists(a) || !exists(b)) return error(exists(a) ? b : a, "exchanging", "No such file or directory");
    if (!can_exchange) {
      return fail(Exit::failed, "cannot_exchange", key_of(a), "exchanging: Invalid argument", "");
    }
    writes.push_back(key_of(a));
    writes.push_back(key_of(b));
    auto first = take_tree(resolve(a));
    auto second = take_tree(resolve(b));
    put_tree(key_of(a), std::move(second));
    put_tree(key_of(b), std::move(first));
    return {};
  }
  Result<void> remove_all(const Path& path) override {
    if (auto fault = write_fault(path)) return error(path, "removing", *fault);
    if (take_tree(resolve_parent(path)).empty()) return {};
    removals.push_back(key_of(path));
    return {};
  }
  Result<void> sync_directory(const Path&) override { return {}; }

 private:
  enum class Kind { file, directory, link };
  struct Entry {
    Kind kind = Kind::file;
    std::string text;  // a file's bytes, a link's target
    bool executable = false;
    uint64_t inode = 0;
    int64_t tick = 0;
  };
  using Tree = std::map<std::string, Entry>;  // "" is the top

  // As lexically_normal() of an absolute path; strings, for tests look up a hundred thousand of them.
  std::string key_of(const Path& path) const {
    const std::string whole = path.is_absolute() ? path.native() : current.native() + "/" + path.native();
    std::string key;
    for (size_t at = 0; at < whole.size();) {
      const size_t end = std::min(whole.find('/', at), whole.size());
      const std::string_view name = std::string_view(whole).substr(at, end - at);
      if (name == "..")
        key.erase(std::min(key.rfind('/'), key.size()));
      else if (!name.empty() && name != ".")
        key.append("/").append(name);
      at = end + 1;
    }
    return key.empty() ? "/" : key;
  }
  static bool is_below(const std::string& key, const std::string& folder) {
    return key != folder && (folder == "/" || key.rfind(folder + "/", 0) == 0);
  }

  // The path with its links followed, as far as it exists; 40 links are a loop, as for the kernel.
  std::string resolve(const Path& path, int links_left = 40) const {
    const std::string whole = key_of(path);
    std::string at;
    for (size_t begin = 0; begin < whole.size() && whole != "/";) {
      const size_t end = std::min(whole.find('/', begin + 1), whole.size());
      at.append(whole, begin, end - begin);
      const auto entry = entries_.find(at);
      const bool is_link = entry != entries_.end() && entry->second.kind == Kind::link;
      if (is_link && links_left > 0) {
        const Path target = entry->second.text;
        at = resolve(target.is_absolute() ? target : Path(at).parent_path() / target, links_left - 1);
        if (at == "/") at.clear();
      }
      begin = end;
    }
    return at.empty() ? "/" : at;
  }
  // As resolve, but the last name itself is not followed.
  std::string resolve_parent(const Path& path) const {
    const Path whole = key_of(path);
    const std::string parent = resolve(whole.parent_path());
    return (Path(parent) / whole.filename()).string();
  }

  const Entry* entry_at(const Path& path) const {
    const auto entry = entries_.find(resolve(path));
    return entry == entries_.end() ? nullptr : &entry->second;
  }
  void put(const std::string& key, Entry entry) {
    entry.inode = ++last_inode_;
    entry.tick = ++clock_;
    entries_[key] = std::move(entry);
  }

  Tree take_tree(const std::string& top) {
    Tree taken;
    for (auto at = entries_.begin(); at != entries_.end();) {
      if (at->first == top || is_below(at->first, top)) {
        taken[at->first.substr(top.size())] = std::move(at->second);
        at = entries_.erase(at);
      } else {
        ++at;
      }
    }
    return taken;
  }
  void put_tree(const std::string& top, Tree tree_entries) {
    for (auto& [tail, entry] : tree_entries)
      entries_[top + tail] = std::move(entry);
  }

  std::optional<std::string> write_fault(const Path& path) const {
    const std::string key = key_of(path);
    for (const auto& [place, reason] : write_faults_) {
      if (key == place || is_below(key, place)) return reason;
    }
    return std::nullopt;
  }
  Result<void> check_write(const Path& path) const {
    if (auto fault = write_fault(path)) return error(path, "writing", *fault);
    const Path parent = Path(key_of(path)).parent_path();
    if (kind(parent) == FileKind::absent) return error(path, "writing", "No such file or directory");
    if (kind(parent) != FileKind::directory) return error(path, "writing", "Not a directory");
    return {};
  }
  tl::unexpected<Error> error(const Path& path, const std::string& doing, const std::string& reason) const {
    return fail(Exit::failed, "io", path.string(), doing + ": " + reason);
  }

  Tree entries_;
  std::map<std::string, std::string> write_faults_;
  std::map<std::string, std::string> read_faults_;
  std::map<std::string, Opening> openings_;
  std::map<std::string, unsigned> owners_;
  uint64_t last_inode_ = 0;
  int64_t clock_ = 0;
};

}  // namespace dsbuild
