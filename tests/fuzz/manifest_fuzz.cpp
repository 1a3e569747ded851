// Any text as manifest.json and as check/<op>.json: what is accepted is written and read back the same.
#include <cstdlib>

#include "bundle/manifest.h"
#include "bundle/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = dsbuild::parse_manifest(text, "fuzz")) {
    if (dsbuild::parse_manifest(dsbuild::render_manifest(*manifest), "fuzz") != manifest) std::abort();
  }
  if (const auto expected = dsbuild::parse_expected(text, "fuzz")) {
    if (dsbuild::parse_expected(dsbuild::render_expected(*expected), "fuzz") != expected) std::abort();
  }
  return 0;
}
