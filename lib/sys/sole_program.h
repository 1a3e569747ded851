// A program that can start no other one. Only for lib/sys.
#pragma once

namespace dsbuild {

// As fexecve(3) with a descriptor that closes on exec. From then on the kernel refuses this process and all
// that it forks to execute a program or to open a socket (EACCES, by a seccomp filter: seccomp(2)). Returns
// where that fails, with errno; always for a script, whose interpreter would be a second program. To be
// called between fork and exec.
void become_sole_program(int program, char* const* argv, char* const* environment);

}  // namespace dsbuild
