// How two bundles, or builds, differ. Pure.
#pragma once

#include <string>
#include <vector>

#include "driver/inventory.h"

namespace dsbuild {

// One difference: "fused_adam", "archs", "7.0 8.0+PTX", "8.0+PTX". Numbers of bytes are digits alone.
struct InventoryChange {
  std::string op;    // "" of the whole
  std::string what;  // "op", "archs", "bytes", "bytes of sm_80", "export", "flags of adam/adam.cu", …
  std::string before, after;
  bool is_size() const { return what.starts_with("bytes"); }
  bool operator==(const InventoryChange&) const = default;
};

// Work of an op's edges; not counted as a difference, for no two builds take the same.
struct InventoryTime {
  std::string op;  // "" of the whole: the wall time
  Milliseconds before = 0, after = 0;
  bool operator==(const InventoryTime&) const = default;
};

struct InventoryDiff {
  std::vector<InventoryChange> changes;  // those of the whole first, then by op
  std::vector<InventoryTime> times;      // where both have been timed
};

// Facts that a build alone knows (flags, why an arch is dropped) are compared where both are builds. Facts
// that a bundle alone knows (needed libraries) are compared where both are bundles.
InventoryDiff compare(const Inventory& before, const Inventory& after);

}  // namespace dsbuild
