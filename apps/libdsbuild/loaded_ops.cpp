#include "loaded_ops.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>

namespace dsbuild {
namespace {

// A list that only grows, at its front. What is in it lives as long as the process.
std::atomic<LoadedEntry*> g_loaded{nullptr};

// What the threads of one process are loading. A fork copies it in whatever state it is, with locks that
// nobody will open: the child makes its own, and the copy is never touched.
struct Loading {
  const pid_t process = ::getpid();
  std::mutex mutex;
  std::condition_variable ended;
  std::set<std::string> keys;
};
std::atomic<Loading*> g_loading{nullptr};

Loading& loading_of_this_process() {
  Loading* known = g_loading.load();
  if (known != nullptr && known->process == ::getpid()) return *known;
  auto mine = std::make_unique<Loading>();
  return g_loading.compare_exchange_strong(known, mine.get()) ? *mine.release() : *known;
}

// Holds the words for one thread.
class Turn {
 public:
  Turn(Loading& loading, const std::string& key) : loading_(loading), key_(key) {
    std::unique_lock lock(loading_.mutex);
    loading_.ended.wait(lock, [&] { return loading_.keys.count(key_) == 0; });
    loading_.keys.insert(key_);
  }
  Turn(const Turn&) = delete;
  ~Turn() {
    {
      const std::lock_guard lock(loading_.mutex);
      loading_.keys.erase(key_);
    }
    loading_.ended.notify_all();
  }

 private:
  Loading& loading_;
  const std::string& key_;
};

}  // namespace

LoadedEntry* find_loaded(const std::string& key) {
  LoadedEntry* entry = g_loaded.load(std::memory_order_acquire);
  while (entry != nullptr && entry->key != key)
    entry = entry->next;
  return entry;
}

Result<LoadedEntry*> find_or_load(const std::string& key,
                                  const std::function<Result<std::unique_ptr<OwnedOp>>()>& load) {
  const Turn turn(loading_of_this_process(), key);
  if (LoadedEntry* const known = find_loaded(key)) return known;
  DSBUILD_TRY(op, load());
  auto* const entry = new LoadedEntry;
  entry->key = key;
  entry->op = std::move(op);
  entry->next = g_loaded.load();
  while (!g_loaded.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

}  // namespace dsbuild
