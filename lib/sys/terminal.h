// What the caller's terminal is.
#pragma once

namespace dsbuild {

struct Terminal {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  int columns = 80;  // of stderr
};

Terminal read_terminal();

}  // namespace dsbuild
