#include "sys/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace dsbuild {

Terminal read_terminal() {
  Terminal terminal;
  const char* const name = std::getenv("TERM");
  const bool is_dumb = name != nullptr && std::string_view(name) == "dumb";
  terminal.stdout_is_terminal = !is_dumb && ::isatty(STDOUT_FILENO) == 1;
  terminal.stderr_is_terminal = !is_dumb && ::isatty(STDERR_FILENO) == 1;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.columns = size.ws_col;
  return terminal;
}

}  // namespace dsbuild
