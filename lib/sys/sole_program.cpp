#include "sys/sole_program.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace dsbuild {
namespace {

#if defined(__aarch64__)
constexpr unsigned k_machine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned k_machine = AUDIT_ARCH_X86_64;
#endif
constexpr unsigned k_refused = SECCOMP_RET_ERRNO | EACCES;
constexpr unsigned k_x32_calls = 0x40000000;  // x86-64's other numbers for the same calls

// If the value is (not) that, `steps` instructions are left out.
sock_filter unless_equal(unsigned value, unsigned char steps) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps);
}
sock_filter if_equal(unsigned value, unsigned char steps) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, steps, 0);
}
sock_filter if_at_least(unsigned value, unsigned char steps) {
  return BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, steps, 0);
}
sock_filter load(unsigned offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
sock_filter answer(unsigned value) {
  return BPF_STMT(BPF_RET | BPF_K, value);
}

constexpr unsigned argument(unsigned number) {  // its lower half
  return static_cast<unsigned>(offsetof(seccomp_data, args) + number * sizeof(__u64));
}

// execveat of that descriptor is the way in. Programs start others by execve, and by fexecve with one of the
// lowest descriptors.
int refuse_other_programs(int program) {
  std::array filter = {load(offsetof(seccomp_data, arch)),
                       unless_equal(k_machine, 6),  // to the refusal
                       load(offsetof(seccomp_data, nr)),
                       if_at_least(k_x32_calls, 4),
                       if_equal(SYS_execve, 3),
                       if_equal(SYS_socket, 2),
                       if_equal(SYS_execveat, 2),
                       answer(SECCOMP_RET_ALLOW),
                       answer(k_refused),
                       load(argument(0)),
                       unless_equal(static_cast<unsigned>(program), 3),
                       load(argument(4)),
                       unless_equal(AT_EMPTY_PATH, 1),
                       answer(SECCOMP_RET_ALLOW),
                       answer(k_refused)};
  sock_fprog rules = {static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules);
}

}  // namespace

void become_sole_program(int program, char* const* argv, char* const* environment) {
  constexpr int k_least = 200;
  const int own = ::fcntl(program, F_DUPFD_CLOEXEC, k_least);
  if (own >= 0 && refuse_other_programs(own) == 0)
    ::syscall(SYS_execveat, own, "", argv, environment, AT_EMPTY_PATH);
}

}  // namespace dsbuild
