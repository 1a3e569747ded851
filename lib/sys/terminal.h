// The caller's terminal. One that says of itself that it can do nothing (TERM=dumb) counts as none: it gets
// neither colours nor a line that is drawn again.
#pragma once

namespace dsbuild {

struct Terminal {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  // COLUMNS, else what the terminal says; 0: no terminal, so any width will do.
  int stdout_columns = 0, stderr_columns = 0;
};

Terminal read_terminal();

}  // namespace dsbuild
