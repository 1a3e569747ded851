// One action, run in its build folder, which is the current one: whether it has to run, what others have made
// of the same, and what is written down of it.
#pragma once

#include "action/action_key.h"
#include "action/judge.h"
#include "sys/system.h"

namespace dsbuild {

// What tools read, as depfiles name it.
struct FilesRead {
  std::vector<std::string> files;
  std::vector<std::string>
      command;  // whose -I and the like say where names are looked for; empty: no names are
  bool by_silent_assembler = false;  // one ran, and did not say what it read
};

class ActionRun {
 public:
  // Without the cache, nothing is taken from it nor put there.
  enum class Cache { used, unused };
  ActionRun(const StepWords& words, System& system, Cache cache = Cache::used);

  // Whether everything is as it was recorded: then nothing is to be done.
  bool holds();
  // From now on nothing is recorded until write(): what was is still known as last(), and a process that is
  // killed leaves none.
  void begin();
  const std::optional<Record>& last() const { return last_; }
  // Whether the files that last() calls outputs are what it says.
  bool has_outputs_of(const std::optional<Record>& record);

  // What the cache has of an action of this key that read what is there now. Its outputs are not looked at.
  std::optional<Record> recall();
  // For the end of the build, where recall() found none although the cache has this key: what is another now.
  // Where this folder was built before, it is what --explain says.
  void note_difference();
  // The same by the key of a text that a tool is given: inputs do not count, for they are in the text. What
  // was read besides does.
  // `text`: the files that it came in.
  std::optional<Record> recall_of_text(const std::string& given, const std::vector<std::string>& text);
  // A record of what was read besides the text.
  void keep_of_text(Record record);

  // In the cache, of what a command makes of a text: the command counts in the place of the action's own.
  std::string key_of_text(const std::vector<std::string>& command, std::string_view text) const;

  // What was read, once tools have run. A file that changed since this object was made leaves it unsettled,
  // and one that names files which no compiler tells of, incomplete.
  Record describe(const FilesRead& read);
  // Those that a compiler may have taken in place of a header: a text that is preprocessed without them does
  // not tell what it makes.
  std::vector<std::string> precompiled_headers(const Record& record);
  // The last thing that is done: the record beside the output, and a copy in the cache.
  Result<void> write(Record record, const std::vector<std::string>& outputs);

  // Whether that of the tools has to be asked, and then says it (nvcc/assembler_depfile.h).
  bool assembler_tells();

  // Whether __DATE__ is that of SOURCE_DATE_EPOCH. gcc takes it from 7 on, clang from 16 on: of which version
  // a clang is, no step knows, so it counts for what an assembler of gcc's makes.
  bool pins_clock();

  // The paths in a record's list of others.
  std::vector<std::string> files_of_list(const std::string& list) { return lists_.paths(list); }

  const std::optional<ContentStore>& cache() const { return cache_; }
  const std::string& output() const { return output_; }
  int64_t begin_ns() const { return begin_ns_; }

 private:
  void describe_file(const std::string& path, Record& record, std::string& others);
  void describe_names(const FilesRead& read, Record& record);
  void describe_equal_files(std::vector<std::string> read, Record& record);
  std::vector<std::string> present_files(const Record& record);
  bool changed_since_begin(const std::string& path) const;
  void add_folders(const FilesRead& read, std::set<std::string>& folders) const;
  // What is kept by a text may be of another op's action.
  enum class Command { same, any };
  std::optional<Record> find_in_cache(const std::string& key, Command command);
  void keep(const std::string& key, const Record& record);

  FileSystem& files_;
  const int64_t begin_ns_;
  const std::string tools_file_, output_;
  const bool has_source_date_;
  std::optional<ContentStore> cache_;
  DigestMemo digests_;
  Lists lists_;
  Key key_;
  Judge judge_;
  std::optional<Record> last_;
  std::optional<Change> difference_;  // from the newest record of the key that was looked for last
};

// That of the build in the current folder, as its plan says; nullopt: results are not kept.
std::optional<ContentStore> store_of_build(FileSystem& files);

}  // namespace dsbuild
