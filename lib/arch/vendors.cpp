#include "arch/amd.h"
#include "arch/intel.h"
#include "arch/nvidia.h"
#include "arch/vendor.h"

namespace dsbuild {

std::vector<std::string> Vendor::texts_of(const ArchSet& own) const {
  std::vector<std::string> texts;
  for (const Target& target : own)
    texts.push_back(target.text());
  return texts;
}

// A new vendor is its files and one line here. The first is the one whose GPUs a list is for that names none.
const std::vector<const Vendor*>& vendors() {
  static const std::vector<const Vendor*> table = {&nvidia(), &amd(), &intel()};
  return table;
}

}  // namespace dsbuild
