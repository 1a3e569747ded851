// What one build's use of a shared cache came to, for people: which names were found there, why others were
// not, and what took how long. All from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cache/upstream.h"
#include "remote/action_result.h"

namespace dsbuild {

// What a name came to. Later notes of a name replace earlier ones.
enum class RemoteFinding {
  not_asked,  // it was here, or the shared cache was off
  found,      // and it is here now
  absent,     // there is no entry
  lost,       // there is an entry, and some of its files are gone
  damaged,    // refused: the entry or a file is not what it says
  untrusted,  // refused: no trusted key has signed it
};

inline constexpr const char* k_nobody = "nobody has built it";
// Why it is not here, to be read after "shared cache: "; "" for what was not asked for, or was found.
std::string text_of_miss(RemoteFinding finding, const std::string& scope);
// The same of a result whose record was found.
std::string text_of_lost_result(RemoteFinding finding);

// Why the shared cache has no result for an edge, by its output.
using RemoteMisses = std::map<std::string, std::string>;

// "fetch": what a step asked for; "upload": a batch.
inline constexpr const char *k_prefetch_span = "prefetch", *k_fetch_span = "fetch", *k_upload_span = "upload";

struct RemoteSpan {
  std::string what;
  double begin = 0, end = 0;  // seconds of the steady clock
  bool operator==(const RemoteSpan&) const = default;
};

class MirrorLog {
 public:
  void note(UpstreamKind what, const std::string& key, RemoteFinding finding);
  // A file that is not here, by its digest here: lost or damaged.
  void note_file(const std::string& digest, RemoteFinding finding);
  // After its files were asked for. `here`: digests of those that are here now. Lists of records are found
  // where one record is.
  void note_entry(UpstreamKind what, const std::string& key, const RemoteEntry& entry,
                  const std::set<std::string>& here);
  RemoteFinding finding(UpstreamKind what, const std::string& key) const;
  // The digests of the records that were found under the key of an action.
  std::vector<std::string> records(const std::string& key) const;
  // How many names came to this.
  uint64_t count(RemoteFinding finding) const;

  // An edge has used this result, whose tools took so long. Whether it came from the shared cache in this
  // build; then that time counts as saved.
  bool note_use(const std::string& result, uint64_t milliseconds);
  uint64_t saved_milliseconds() const;

  // Adds a span when it is destroyed.
  class Timer {
   public:
    Timer(MirrorLog& log, const char* what);
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer();

   private:
    MirrorLog& log_;
    const char* what_;
    const double begin_;
  };
  // By their ends.
  std::vector<RemoteSpan> spans() const;

 private:
  using Findings = std::map<std::string, RemoteFinding>;
  Findings& of(UpstreamKind what) { return what == UpstreamKind::result ? results_ : lists_; }

  mutable std::mutex mutex_;
  Findings results_, lists_, files_;
  std::map<std::string, std::vector<std::string>> records_;
  std::vector<RemoteSpan> spans_;
  uint64_t saved_milliseconds_ = 0;
};

}  // namespace dsbuild
