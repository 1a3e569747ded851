// Any bytes as words of a command: what is quoted for sh comes back from a splitter as it was.
#include <cstdlib>

#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (dsbuild::shell_split(dsbuild::shell_join(words)) != words) std::abort();
  return 0;
}
