#include "sys/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/text.h"

namespace dsbuild {

namespace {

int columns_of(int descriptor) {
  const char* const chosen = std::getenv("COLUMNS");
  if (const auto number = whole_number<int>(chosen == nullptr ? "" : chosen); number && *number > 0)
    return *number;
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Terminal read_terminal() {
  Terminal terminal;
  const char* const name = std::getenv("TERM");
  const bool is_dumb = name != nullptr && std::string_view(name) == "dumb";
  terminal.stdout_is_terminal = !is_dumb && ::isatty(STDOUT_FILENO) == 1;
  terminal.stderr_is_terminal = !is_dumb && ::isatty(STDERR_FILENO) == 1;
  terminal.stdout_columns = columns_of(STDOUT_FILENO);
  terminal.stderr_columns = columns_of(STDERR_FILENO);
  return terminal;
}

}  // namespace dsbuild
