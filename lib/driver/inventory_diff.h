// Compares two bundles or builds. Pure.
#pragma once

#include <string>
#include <vector>

#include "driver/inventory.h"

namespace dsbuild {

// One difference: {"fused_adam", "archs", "7.0 8.0+PTX", "8.0+PTX"}. Sizes are digits without a unit. `op` is
// "" for the whole bundle.
struct InventoryChange {
  std::string op;    // "" of the whole
  std::string what;  // "op", "archs", "bytes", "bytes of sm_80", "export", "flags of adam/adam.cu", …
  std::string before, after;
  bool is_size() const { return what.starts_with("bytes"); }
  bool operator==(const InventoryChange&) const = default;
};

// The time of an op's edges in both builds. It does not count as a difference, since no two builds take equal
// time.
struct InventoryTime {
  std::string op;  // "" for the wall time of the build
  Milliseconds before = 0, after = 0;
  bool operator==(const InventoryTime&) const = default;
};

struct InventoryDiff {
  std::vector<InventoryChange> changes;  // first those of the whole bundle, then by op
  std::vector<InventoryTime> times;      // if both have timings
};

// Compares flags and reasons for dropped archs only if both are builds, and needed libraries only if both are
// bundles: the other kind does not have them.
InventoryDiff compare(const Inventory& before, const Inventory& after);

}  // namespace dsbuild
