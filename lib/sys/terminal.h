// What the caller's terminal is. One that says of itself that it can do nothing (TERM=dumb) counts as none:
// neither colours nor a line that is drawn anew.
#pragma once

namespace dsbuild {

struct Terminal {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  int columns = 80;  // of stderr
};

Terminal read_terminal();

}  // namespace dsbuild
