#include "sys/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace dsbuild {

Terminal read_terminal() {
  Terminal terminal;
  terminal.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  terminal.stderr_is_terminal = ::isatty(STDERR_FILENO) == 1;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.columns = size.ws_col;
  return terminal;
}

}  // namespace dsbuild
