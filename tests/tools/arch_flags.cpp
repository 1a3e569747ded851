// Reads arch lists, one a line; prints each one's -gencode flags, sorted, or "error: CODE". For the
// differential test against torch.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "arch/arch_list.h"
#include "base/text.h"

namespace {

std::string flags_of(const std::string& list) {
  const auto request = dsbuild::parse_arch_list(list, "stdin");
  if (!request) return "error: " + request.error().code;
  std::vector<std::string> flags;
  for (const dsbuild::Target& target : request->targets)
    flags.push_back(target.flag());
  std::sort(flags.begin(), flags.end());
  return dsbuild::join(flags, " ");
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << flags_of(line) << "\n";
}
