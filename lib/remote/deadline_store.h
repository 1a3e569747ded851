// A store whose questions may never return, as reads of a hard NFS mount whose server is gone: each call runs
// in a thread of its own, which is left alone when no answer comes in time.
#pragma once

#include <chrono>
#include <memory>

#include "remote/remote_store.h"

namespace dsbuild {

struct StoreDeadlines {
  std::chrono::milliseconds first{1'000};  // for the first file of all
  std::chrono::milliseconds each{10'000};  // for each file after it
};

// `store` answers its questions one after the other; `name` stands in messages. After a file took too long,
// its call and all later ones fail at once. A thread that was left alone holds the store, which therefore
// refers to nothing that its user owns.
std::unique_ptr<RemoteStore> with_deadlines(std::shared_ptr<RemoteStore> store, std::string name,
                                            StoreDeadlines deadlines = {});

}  // namespace dsbuild
