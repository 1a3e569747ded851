// What keeps descriptors of the calling process out of a program that it starts.
#pragma once

#include <spawn.h>

namespace dsbuild {

// posix_spawn_file_actions_addclosefrom_np: glibc 2.34 and newer have it; nullptr where it is older.
using CloseFrom = int(posix_spawn_file_actions_t*, int);
CloseFrom* find_closefrom();

// The program gets none but the standard descriptors. Without `closefrom` those are named that are open now:
// one that another thread opens before the start, and does not mark close-on-exec, is then the program's too.
void close_others(posix_spawn_file_actions_t& actions, CloseFrom* closefrom);

}  // namespace dsbuild
