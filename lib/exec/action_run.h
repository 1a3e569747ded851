// One action in its build folder, which is the current folder. Tells whether it has to run, finds its results
// in the cache, and writes its record.
#pragma once

#include "exec/action_key.h"
#include "exec/record_maker.h"
#include "sys/system.h"

namespace dsbuild {

class ActionRun {
 public:
  // `unused`: looks up no result and stores none.
  enum class Cache { used, unused };
  ActionRun(const StepWords& words, System& system, Cache cache = Cache::used);

  // Whether the record is up to date, so that nothing has to run.
  bool is_up_to_date();
  // Renames the record to `.stale`, so the action has none until write(), even if the process is killed.
  // last() still has its content.
  void begin();
  const std::optional<Record>& last() const { return last_; }
  // Whether the outputs of last() still have the digests that it lists.
  bool has_last_outputs();

  // Finds a record in the cache with this action's key and with inputs equal to the present ones. Does not
  // check that its result exists.
  std::optional<Record> lookup();
  // The same by the key of the text that a tool gets as input (`given`, from key_of_text). The inputs in
  // `text` need not be equal, because their content is in that text; all other files must be.
  std::optional<Record> lookup_text(const std::string& given, const std::vector<std::string>& text);
  // Notes, for a message at the end of the build, why lookup() failed although the cache has records of this
  // key. Notes nothing if this folder has an earlier record: then `--explain` tells the reason.
  void note_difference();

  // The key in the cache for the output of a command that reads this text. `command` replaces the action's
  // own command in it.
  std::string key_of_text(const std::vector<std::string>& command, std::string_view text) const;

  // Makes a record of the files that tools have read since this object was constructed.
  Record make_record(const FilesRead& read) { return maker_.make(read); }
  std::vector<std::string> precompiled_headers(const Record& record) {
    return maker_.precompiled_headers(record);
  }
  // The present digests of these files, for a record.
  Result<std::vector<FileDigest>> digests_of(const std::vector<std::string>& outputs);
  // Puts a record into the cache if it has a result.
  void share(const Record& record) { put_record(key_.digest(), record); }
  void share_by_text(const Record& record) { put_record(key_of_text({}, record.given), record); }
  // Writes the record next to the output. Call it last.
  Result<void> write(Record record);

  // Whether the tools' assembler can list the files that it reads (nvcc/assembler_depfile.h).
  bool assembler_tells();

  // The paths in a list of files (Record::others).
  std::vector<std::string> files_of_list(const std::string& list) { return lists_.paths(list); }

  const std::optional<TieredCache>& cache() const { return cache_; }
  const std::string& output() const { return output_; }

 private:
  // Whether SOURCE_DATE_EPOCH decides __DATE__. gcc does that from version 7 on, clang from 16 on. No step
  // knows the version of a clang, so only gcc counts; a step recognises gcc by its assembler.
  bool pins_clock(const System& system);
  // `any`: a record that was found by its text may belong to an action of a different op.
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
  std::optional<Change> difference_;  // from the newest record of the key that was looked up last
};

// The cache of the build in the current folder, according to its plan; nullopt: results are not cached.
std::optional<TieredCache> store_of_build(System& system);

}  // namespace dsbuild
