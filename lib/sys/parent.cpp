#include "sys/parent.h"

#include <sys/prctl.h>

#include <csignal>

namespace dsbuild {

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

}  // namespace dsbuild
