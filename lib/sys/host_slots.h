// Turns of this node, which processes take that know nothing of one another: as many as there are cores, and
// below a bound of memory for all of them together. First come, first served. A turn is a set of kernel locks
// (flock(2)) on files of a folder: when its process ends, however it ends, they are free. There is no process
// that all depend on, and nothing to clean up by hand.
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

// Waits for a turn in which as many bytes may be held. One that needs more than the bound is alone. All who
// name the same folder, which is made if need be, count together. Errors: exit 1 `io`.
Result<std::unique_ptr<HostSlot>> take_node_turn(const Path& folder, const NodeBound& bound, ByteCount bytes);

}  // namespace dsbuild
