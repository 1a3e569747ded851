// A log of one build's use of a shared cache, for people: which names were found there, why others were not,
// and how long the transfers took. All functions may be called from any thread.
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

// The outcome for a name. Later notes of a name replace earlier ones.
enum class RemoteFinding {
  not_asked,  // it was here, or the build did not use the shared cache
  found,      // and it is here now
  absent,     // there is no entry
  lost,       // there is an entry, and some of its files are gone
  damaged,    // refused: the entry is malformed, or a file does not have its digest
  untrusted,  // refused: no trusted key has signed it
};

inline constexpr const char* k_nobody = "nobody has built it";
// Why a name is not here, as the text after "shared cache: "; "" for `not_asked` and `found`.
std::string text_of_miss(RemoteFinding finding, const std::string& scope);
// The same for a result whose record was found.
std::string text_of_lost_result(RemoteFinding finding);

// Why the shared cache has no result for an edge, by its output.
using RemoteMisses = std::map<std::string, std::string>;

// "fetch": a request of a step; "upload": a batch.
inline constexpr const char *k_prefetch_span = "prefetch", *k_fetch_span = "fetch", *k_upload_span = "upload";

struct RemoteSpan {
  std::string what;
  double begin = 0, end = 0;  // seconds of the steady clock
  bool operator==(const RemoteSpan&) const = default;
};

class MirrorLog {
 public:
  void note(UpstreamKind what, const std::string& key, RemoteFinding finding);
  // For a file that is not here, by its unpacked digest: lost or damaged.
  void note_file(const std::string& digest, RemoteFinding finding);
  // To be called after the entry's files were requested. `here`: digests of those that are here now. A list
  // of records counts as found if one record is here.
  void note_entry(UpstreamKind what, const std::string& key, const RemoteEntry& entry,
                  const std::set<std::string>& here);
  RemoteFinding finding(UpstreamKind what, const std::string& key) const;
  // The digests of the records that were found under the key of an action.
  std::vector<std::string> records(const std::string& key) const;
  // How many names have this outcome.
  uint64_t count(RemoteFinding finding) const;

  // Notes that an edge has used this result; `milliseconds`: the time that its tools took. Whether it came
  // from the shared cache in this build. If so, that time counts as saved.
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
  // In the order of their ends.
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
