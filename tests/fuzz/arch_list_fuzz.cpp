// Any text as an arch list: it is refused, or what is printed of it is accepted as the same set.
#include <cstdlib>

#include "arch/arch_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto request = dsbuild::parse_arch_list(text, "--arch");
  if (!request || request->targets.empty()) return 0;
  const auto again = dsbuild::parse_arch_list(dsbuild::arch_list(request->targets), "--arch");
  if (!again || again->targets != request->targets) std::abort();
  return 0;
}
