// One action in its build folder, which is the current one: whether it has to run, what the cache has of it,
// and its record.
#pragma once

#include "exec/action_key.h"
#include "exec/record_maker.h"
#include "sys/system.h"

namespace dsbuild {

class ActionRun {
 public:
  // Without the cache, nothing is taken from it nor put there.
  enum class Cache { used, unused };
  ActionRun(const StepWords& words, System& system, Cache cache = Cache::used);

  // Whether all is as the record says: then nothing has to run.
  bool is_up_to_date();
  // Until write() the action has no record, so a process that is killed leaves none. last() still has it.
  void begin();
  const std::optional<Record>& last() const { return last_; }
  // Whether the files that last() calls outputs are what it says.
  bool has_last_outputs();

  // The record in the cache of an action of this key whose inputs are as they are here. Nobody has looked
  // for its result.
  std::optional<Record> lookup();
  // The same by the key of a text that a tool is given, for inputs are in the text. Other files that were
  // read count. `text`: the files that it came in.
  std::optional<Record> lookup_text(const std::string& given, const std::vector<std::string>& text);
  // For the end of the build, where lookup() failed although the cache has this key: what differs. Where this
  // folder was built before, `--explain` says it.
  void note_difference();

  // In the cache, of what a command makes of a text: the command counts in the place of the action's own.
  std::string key_of_text(const std::vector<std::string>& command, std::string_view text) const;

  // Makes a record of the files that tools have read since this object was made.
  Record make_record(const FilesRead& read) { return maker_.make(read); }
  std::vector<std::string> precompiled_headers(const Record& record) {
    return maker_.precompiled_headers(record);
  }
  // The files at these paths now, for a record.
  Result<std::vector<FileDigest>> digests_of(const std::vector<std::string>& outputs);
  // Puts a record into the cache, where it has a result.
  void share(const Record& record) { put_record(key_.digest(), record); }
  void share_by_text(const Record& record) { put_record(key_of_text({}, record.given), record); }
  // The last thing that is done: the record next to the output.
  Result<void> write(Record record);

  // Whether that of the tools has to be asked, and then says it (nvcc/assembler_depfile.h).
  bool assembler_tells();

  // The paths in a record's list of others.
  std::vector<std::string> files_of_list(const std::string& list) { return lists_.paths(list); }

  const std::optional<TieredCache>& cache() const { return cache_; }
  const std::string& output() const { return output_; }

 private:
  // gcc takes __DATE__ from SOURCE_DATE_EPOCH from version 7 on, clang from 16 on. No step knows the version
  // of a clang, so only gcc counts, by its assembler.
  bool pins_clock(const System& system);
  // A record that was found by a text may be of another op's action.
  enum class Command { same, any };
  std::optional<Record> find_record(const std::string& key, Command command);
  std::optional<Record> find_record_here(const std::string& key, Command command);
  void put_record(const std::string& key, Record record);

  FileSystem& files_;
  const std::string tools_file_, output_;
  std::optional<TieredCache> cache_;
  DigestMemo digests_;
  Lists lists_;
  Key key_;
  Staleness staleness_;
  RecordMaker maker_;
  std::optional<Record> last_;
  std::optional<Change> difference_;  // from the newest record of the key that was looked for last
};

// That of the build in the current folder, as its plan says; nullopt: results are not cached.
std::optional<TieredCache> store_of_build(System& system);

}  // namespace dsbuild
