// Between the local cache and one that machines share: brings results that a build asks for, and takes new
// ones there. A failure of the shared cache is a miss. After three failures in a row this build goes on
// without it. Each file is checked against its digest before it is written here. An entry is believed where a
// trusted key has signed it, or where nothing is said of keys (docs/guides/shared_cache.md).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/counts.h"
#include "cache/local_cache.h"
#include "cache/tiered_cache.h"
#include "cache/upstream.h"
#include "exec/record.h"
#include "remote/action_result.h"
#include "remote/entry_signature.h"
#include "remote/mirror_log.h"
#include "remote/packed_files.h"
#include "remote/remote_store.h"
#include "sys/clock.h"

namespace dsbuild {

struct MirrorOptions {
  std::string scope = {};  // results of another scope are not found
  bool uploads = false;
  EntryKeys keys = {};  // who signs, and who is believed
  // The store removes files of this age. Entries that are used there and are older than half of it are
  // written again. 0: it removes nothing by age.
  int64_t ttl_seconds = 0;
  int64_t (*clock)() = unix_seconds;
  bool pushes = false;  // what the local cache has goes up when it is used, and nothing comes from there
  bool offers = false;  // what it has goes up when it is used, where it is not there yet
  // A build goes on without a store that has taken longer than this for what is asked for together, at less
  // than this many bytes a second: compiling is about as fast.
  double most_seconds_slow = 5;
  double least_bytes_per_second = 100'000;
};

struct MirrorUses {
  RemoteCounts counts;
  uint64_t unsent = 0;        // entries that were to go there, and have not
  std::string off;            // why this build went on without it; "": it did not
  std::string read_only;      // why nothing went up; "": that was not asked for, or it did
  std::string untrusted_why;  // of the first entry that no trusted key has signed
  bool operator==(const MirrorUses&) const = default;
};

// One action whose key the plan knows. `holds`: whether a record is of what is here now, or will be here by
// records that held before.
struct Foreseen {
  std::string key;
  std::function<bool(const Record& record)> holds;
};

class RemoteMirror : public Upstream {
 public:
  RemoteMirror(std::shared_ptr<RemoteStore> store, FileSystem& files, const Path& local,
               MirrorOptions options);
  RemoteMirror(const RemoteMirror&) = delete;
  RemoteMirror& operator=(const RemoteMirror&) = delete;
  ~RemoteMirror() override;

  bool fetch(UpstreamKind what, const std::string& key) override;
  void fetch_together(UpstreamKind what, const std::vector<std::string>& keys) override;
  void added(UpstreamKind what, const std::string& key) override;
  void found(UpstreamKind what, const std::string& key) override;
  // All that the actions need and the local cache lacks, in four rounds: entries of records, larger ones of
  // these and of the texts that they name, entries of results, and their files.
  void prefetch(const std::vector<Foreseen>& actions);
  // Of both, the files of all of them are in memory at once.
  // From there into the local cache, which has so many of them then.
  size_t pull(const std::vector<UpstreamItem>& items);
  // These of the local cache go there, now.
  void push(const std::vector<UpstreamItem>& items);
  bool pushes() const { return options_.pushes; }
  bool offers() const { return options_.pushes || options_.offers; }
  bool may_put() const { return store_->may_put(); }  // false: there are no credentials to upload with
  // The entries that went there since this object was made, in their order.
  std::vector<UpstreamItem> pushed() const;
  // Waits until all that was to go there is there, however long that takes. Failed ones are tried again, also
  // where this build went on without the shared cache. false: `goes_on` ended it, or some has failed for good
  // (MirrorUses::unsent).
  bool send_all(const std::function<bool()>& goes_on);
  // Waits for uploads, but no longer than this. Uploads that are left do not happen.
  void finish(double most_seconds);
  MirrorUses uses() const;
  const std::string& scope() const { return options_.scope; }
  bool uploads() const { return options_.uploads; }
  MirrorLog& log() { return log_; }

 private:
  // An entry that goes up, with its files; `there`: the one that is there already.
  struct Upload {
    std::string key;
    std::vector<CachedFile> files;
    RemoteEntry there = {};
  };
  enum class Direction { in, out };

  RemoteName action_name(UpstreamKind what, const std::string& key) const;
  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names);
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files);
  bool is_off(Direction direction) const;
  void judge(const std::vector<RemoteAnswer>& answers, Direction direction);
  void judge_speed(const std::vector<RemoteAnswer>& answers, double seconds);

  std::vector<std::optional<RemoteEntry>> get_entries(UpstreamKind what,
                                                      const std::vector<std::string>& keys);
  RemoteEntry trusted(UpstreamKind what, const std::string& name, const std::string& key, RemoteEntry entry);
  bool complete(UpstreamKind what, const std::string& name, const RemoteEntry& there,
                RemoteEntry& entry) const;
  std::set<std::string> get_blobs(const std::vector<std::optional<RemoteEntry>>& entries);
  bool fetch_now(UpstreamKind what, const std::string& key);
  size_t fetch_results(const std::vector<std::string>& keys);
  void fetch_records(const std::vector<std::string>& keys);
  std::optional<Record> record_here(const Foreseen& action) const;
  void settle(std::vector<const Foreseen*>& open, std::set<std::string>& results) const;
  void note_asked(UpstreamKind what, const std::vector<std::string>& keys);

  void note_age(UpstreamKind what, const std::string& key, const RemoteEntry& entry);
  void renew(const std::vector<UpstreamItem>& items);
  void renew_files(const std::vector<std::optional<RemoteEntry>>& entries);
  void upload();
  void upload_batch(std::unique_lock<std::mutex>& lock);
  bool is_idle() const;
  bool wait(double seconds, const std::function<bool()>& goes_on);
  bool wait_for_queue(const std::function<bool()>& goes_on);
  std::vector<UpstreamItem> begin_again();
  void note_sent(UpstreamKind what, const std::vector<std::string>& keys);
  std::vector<std::string> lacking_there(const std::vector<std::string>& results);
  void upload_results(const std::vector<std::string>& keys);
  void upload_records(const std::vector<std::string>& keys);
  std::vector<CachedFile> files_of_record(const CachedFile& record) const;
  size_t put_entries(UpstreamKind what, const std::vector<Upload>& uploads);
  void put_blobs(UpstreamKind what, const std::vector<Upload>& uploads);

  std::shared_ptr<RemoteStore> store_;
  LocalFolder folder_;
  LocalActionCache actions_;
  LocalBlobStore blobs_;
  TieredCache cache_;  // the same folder: lists of records
  MirrorOptions options_;
  const int64_t began_;  // unix seconds: what this build puts there is no older
  FilePacker packer_;    // the uploader's
  MirrorLog log_;

  mutable std::mutex mutex_;  // of what follows
  MirrorUses uses_;
  int failures_in_a_row_ = 0;
  double seconds_together_ = 0;  // that took what was asked for together
  uint64_t bytes_together_ = 0;
  std::map<std::string, std::shared_future<bool>> asked_;  // by names of actions: what fetch() says
  std::set<std::string> untrusted_;                        // names of entries
  std::set<std::string> found_;                            // names of what was found here
  std::vector<UpstreamItem> pushed_;
  std::map<std::string, UpstreamItem> unsent_;  // by names of entries
  std::deque<UpstreamItem> queue_;
  std::set<std::string> old_;          // names of entries that were found to be old
  std::deque<UpstreamItem> renewals_;  // of them, those that are still to be written
  std::set<std::string> fresh_files_;  // the uploader's: digests, packed, of files that were written again
  bool is_uploading_ = false, ends_ = false;
  std::condition_variable changed_;
  std::thread uploader_;  // last, for it uses the others
};

}  // namespace dsbuild
