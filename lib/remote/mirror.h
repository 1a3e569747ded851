// Copies results between the local cache and the shared cache: downloads results that a build asks for, and
// uploads new ones. A failure of the shared cache is a miss. After three failures in a row, this build no
// longer uses it. Each file is checked against its digest before it is written here. An entry is trusted if a
// trusted key has signed it, or if no trusted keys are set (docs/guides/shared_cache.md).
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
  std::string scope = {};  // results of other scopes are not found
  bool uploads = false;
  EntryKeys keys = {};  // the key that signs uploads, and the trusted keys
  // The age at which the store removes files. A used entry that is older than half of it is written again. 0:
  // the store removes nothing by age.
  int64_t ttl_seconds = 0;
  int64_t (*clock)() = unix_seconds;
  bool pushes = false;  // uploads results of the local cache when they are used, downloads nothing
  bool offers = false;  // uploads results of the local cache when they are used, unless they are there
  // A store is too slow if requests for many files took longer than the first number of seconds, at fewer
  // bytes a second than the second number. Then the build no longer uses it, since compiling is about as
  // fast.
  double most_seconds_slow = 5;
  double least_bytes_per_second = 100'000;
  std::vector<double> pauses = {1, 4, 10};  // seconds before each new attempt of send_all
};

struct MirrorUses {
  RemoteCounts counts;
  uint64_t unsent = 0;        // entries that were to be uploaded, and were not
  std::string off;            // why this build stopped using the shared cache; "": it did not
  std::string read_only;      // why uploads stopped; "": they did not, or there were to be none
  std::string untrusted_why;  // why the first entry was refused that no trusted key has signed
  bool operator==(const MirrorUses&) const = default;
};

// One action whose key the plan knows. `holds`: whether a record describes the files that are here now, or
// that will be here by records for which it was true before.
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
  // Downloads all that the actions need and the local cache lacks, in four rounds: entries of records;
  // records and texts named by them that are too large for an entry; entries of results; their files.
  void prefetch(const std::vector<Foreseen>& actions);
  // Downloads these entries into the local cache. Returns how many of them are then in it. Like push(), it
  // has all their files in memory at the same time.
  size_t pull(const std::vector<UpstreamItem>& items);
  // Uploads these entries of the local cache now.
  void push(const std::vector<UpstreamItem>& items);
  bool pushes() const { return options_.pushes; }
  bool offers() const { return options_.pushes || options_.offers; }
  bool may_put() const { return store_->may_put(); }  // false: there are no credentials for an upload
  // The entries that this object has uploaded, in their order.
  std::vector<UpstreamItem> pushed() const;
  // Waits until all uploads are done, without a time limit. Repeats failed ones, even if this build had
  // stopped using the shared cache. false: `goes_on` returned false, or some uploads still failed
  // (MirrorUses::unsent).
  bool send_all(const std::function<bool()>& goes_on);
  // Waits for uploads, but no longer than this. Cancels those that are left.
  void finish(double most_seconds);
  MirrorUses uses() const;
  const std::string& scope() const { return options_.scope; }
  bool uploads() const { return options_.uploads; }
  MirrorLog& log() { return log_; }

 private:
  // An entry to upload, with its files. `there`: the present entry of the shared cache.
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
  TieredCache cache_;  // the same folder, for lists of records
  MirrorOptions options_;
  const int64_t began_;  // seconds since the epoch: uploads of this build are no older
  FilePacker packer_;    // the uploader's
  MirrorLog log_;

  mutable std::mutex mutex_;  // guards the following
  MirrorUses uses_;
  int failures_in_a_row_ = 0;
  double seconds_together_ = 0;  // that requests for many files took
  uint64_t bytes_together_ = 0;
  std::map<std::string, std::shared_future<bool>> asked_;  // the answers of fetch(), by names of entries
  std::set<std::string> untrusted_;                        // names of entries
  std::set<std::string> found_;                            // names of entries that were found here
  std::vector<UpstreamItem> pushed_;
  std::map<std::string, UpstreamItem> unsent_;  // by names of entries
  std::deque<UpstreamItem> queue_;
  std::set<std::string> old_;          // names of old entries
  std::deque<UpstreamItem> renewals_;  // those of them that are not yet written again
  // for the uploader alone: packed digests of files that were written again
  std::set<std::string> fresh_files_;
  bool is_uploading_ = false, ends_ = false;
  std::condition_variable changed_;
  std::thread uploader_;  // last, because it uses the others
};

}  // namespace dsbuild
