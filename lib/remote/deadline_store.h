// Gives deadlines to a store whose calls may never return, such as reads from a hard NFS mount whose server
// is gone. Each call runs in a thread of its own. If no answer comes in time, the call fails and its thread
// is abandoned.
#pragma once

#include <chrono>
#include <memory>

#include "remote/remote_store.h"

namespace dsbuild {

struct StoreDeadlines {
  std::chrono::milliseconds first{1'000};  // for the first file of the store
  std::chrono::milliseconds each{10'000};  // for each file after it
};

// The files of one call are handled one after the other. `name` is for messages. If a file takes too long,
// its call and all later ones fail at once. An abandoned thread still uses the store, so the store must own
// all that it refers to.
std::unique_ptr<RemoteStore> with_deadlines(std::shared_ptr<RemoteStore> store, std::string name,
                                            StoreDeadlines deadlines = {});

}  // namespace dsbuild
