// The ops that this process has loaded, and those that it is loading.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "answer.h"

namespace dsbuild {

struct LoadedEntry {
  std::string key;  // the words it was asked for with
  std::unique_ptr<OwnedOp> op;
  std::atomic<void*> handle{nullptr};  // of dlopen, where it was opened
  LoadedEntry* next = nullptr;
};

// What was loaded for these words; nullptr: nothing yet. Takes no lock, so that it also works in a process
// that was forked at any moment.
LoadedEntry* find_loaded(const std::string& key);

// What was loaded for these words, else what `load` makes of them. Threads that ask for the same wait for one
// another; where the first fails, the next tries. A failure is not remembered.
Result<LoadedEntry*> find_or_load(const std::string& key,
                                  const std::function<Result<std::unique_ptr<OwnedOp>>()>& load);

}  // namespace dsbuild
