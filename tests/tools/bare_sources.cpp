// bare_sources FILE...: beside each, in FILE.bare, what slices/comments.h leaves of it.
#include <fstream>
#include <iterator>

#include "slices/comments.h"

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::ofstream(name + ".bare", std::ios::binary) << dsbuild::without_comments(text);
  }
}
