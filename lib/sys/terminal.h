// The caller's terminal. TERM=dumb counts as no terminal: no colours, and no line that is redrawn.
#pragma once

namespace dsbuild {

struct Terminal {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  // COLUMNS, else the terminal's width; 0: no terminal, so any width.
  int stdout_columns = 0, stderr_columns = 0;
};

Terminal read_terminal();

}  // namespace dsbuild
