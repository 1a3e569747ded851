// The toolkits of one build.
#pragma once

#include <vector>

#include "toolkit/toolkit.h"

namespace dsbuild {

// For each vendor of GPUs one at most, in the vendors' order. They outlive the set.
class ToolkitSet {
 public:
  ToolkitSet() = default;
  ToolkitSet(const Toolkit* only) {  // NOLINT(google-explicit-constructor): a build with one; nullptr: none
    if (only) add(*only);
  }
  void add(const Toolkit& toolkit) { all_.push_back(&toolkit); }
  // nullptr: nothing is built for its GPUs.
  const Toolkit* of(const Vendor& vendor) const {
    for (const Toolkit* toolkit : all_)
      if (&toolkit->vendor() == &vendor) return toolkit;
    return nullptr;
  }
  bool empty() const { return all_.empty(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<const Toolkit*> all_;
};

}  // namespace dsbuild
