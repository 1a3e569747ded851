// The ops that this process has loaded or is loading.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "answer.h"

namespace dsbuild {

struct LoadedEntry {
  std::string key;  // the arguments of the call that loaded it
  std::unique_ptr<OwnedOp> op;
  std::atomic<void*> handle{nullptr};  // of dlopen, if it was opened
  LoadedEntry* next = nullptr;
};

// The op that was loaded for this key; nullptr: none yet. Takes no lock, so it also works in a process that
// was forked at any moment.
LoadedEntry* find_loaded(const std::string& key);

// The op that was loaded for this key; else calls `load`. If several threads ask for one key, one loads and
// the others wait; if it fails, the next one tries. A failure is not remembered.
Result<LoadedEntry*> find_or_load(const std::string& key,
                                  const std::function<Result<std::unique_ptr<OwnedOp>>()>& load);

}  // namespace dsbuild
