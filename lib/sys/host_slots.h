// CPU slots of this machine for processes that do not know each other: as many as there are cores, and with a
// limit of memory for all together. First come, first served. A slot is a set of kernel locks (flock(2)) on
// files in a folder, so the kernel frees it however its process ends. No server is needed, and no cleaning
// up.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/text.h"
#include "sys/memory_queue.h"

namespace dsbuild {

struct NodeBound {
  int turns = 1;
  ByteCount bytes = 0;
};

class HostSlot {
 public:
  virtual ~HostSlot() = default;  // gives it back
};

// Waits for a slot with this many bytes of memory. A process that needs more than the limit runs alone. All
// processes that name the same folder share the slots. Makes the folder if it is absent. Errors: exit 1 `io`.
Result<std::unique_ptr<HostSlot>> take_node_turn(const Path& folder, const NodeBound& bound, ByteCount bytes);

}  // namespace dsbuild
