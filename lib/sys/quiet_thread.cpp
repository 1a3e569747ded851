#include "sys/quiet_thread.h"

#include <csignal>

namespace dsbuild {

void block_signals_in_this_thread() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace dsbuild
