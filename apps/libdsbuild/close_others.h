// Keeps the calling process's file descriptors out of a program that it starts.
#pragma once

#include <spawn.h>

namespace dsbuild {

// posix_spawn_file_actions_addclosefrom_np of glibc 2.34 and newer; nullptr if glibc is older.
using CloseFrom = int(posix_spawn_file_actions_t*, int);
CloseFrom* find_closefrom();

// Closes all descriptors in the new program except the standard ones. With `closefrom` nullptr, it closes
// those that are open now. Then the program inherits a descriptor that a second thread opens before the start
// without close-on-exec.
void close_others(posix_spawn_file_actions_t& actions, CloseFrom* closefrom);

}  // namespace dsbuild
