#include "sys/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "sys/descriptor.h"
#include "sys/sole_program.h"
#include "sys/system.h"

namespace dsbuild {
namespace {

// Older headers lack these. The number is the same on every machine.
constexpr long k_sys_close_range = 436;
constexpr unsigned k_close_range_cloexec = 4;

// Everything the child needs between fork and exec, where it may not allocate.
struct Prepared {
  std::string program;
  std::string folder;  // "" for the current one
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<std::string> environment_texts;
  int input = -1;
  int sole = -1;    // the program, where it is to be the only one
  int report = -1;  // the pipe that tells the parent why exec failed
  pid_t parent = 0;
};

// What the child reports when it cannot become the program.
struct StartFailure {
  int error_number;
  bool in_folder;  // while changing to the folder
};

[[noreturn]] void report_failure(const Prepared& prepared, bool in_folder) {
  const StartFailure failure{errno, in_folder};
  [[maybe_unused]] const ssize_t ignored = ::write(prepared.report, &failure, sizeof failure);
  ::_exit(127);
}

void set_descriptors(const Prepared& prepared, const ChildStart& start) {
  ::dup2(prepared.input, STDIN_FILENO);
  ::dup2(start.out, STDOUT_FILENO);
  ::dup2(start.err, STDERR_FILENO);
  // Ours are close-on-exec already; this is for what our own caller left open. Linux 5.11 has it.
  ::syscall(k_sys_close_range, 3U, ~0U, k_close_range_cloexec);
  for (const int descriptor : start.inherited)
    ::fcntl(descriptor, F_SETFD, 0);
}

// Our handlers go first, for they would change our memory. A signal that waited then ends the child, or is
// ignored, as in the program.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    const bool is_known = ::sigaction(signal, nullptr, &action) == 0;
    if (is_known && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL) ::signal(signal, SIG_DFL);
  }
  // dsbuild may ignore it, and what is ignored stays so over exec. SIGXFSZ does: a tool then says why it
  // cannot write, and does not die of it.
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child, in our memory: async-signal-safe calls only.
[[noreturn]] void become_program(const Prepared& prepared, const ChildStart& start) {
  if (start.new_session)
    ::setsid();
  else if (start.group == ChildGroup::own)
    ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have died before the line above.
  if (::getppid() != prepared.parent) ::_exit(127);
  reset_signals();
  set_descriptors(prepared, start);
  if (!prepared.folder.empty() && ::chdir(prepared.folder.c_str()) != 0) report_failure(prepared, true);
  if (prepared.sole >= 0)
    become_sole_program(prepared.sole, prepared.argv.data(), prepared.environment.data());
  else
    ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.environment.data());
  report_failure(prepared, false);
}

// The child shares our memory until it is the program (vfork): copying that of a large process takes longer
// than all else here. Signals wait meanwhile, so that no handler of ours runs there.
pid_t fork_and_become(const Prepared& prepared, const ChildStart& start) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t id = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (id == 0) become_program(prepared, start);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return id;
}

tl::unexpected<Error> cannot_start(std::string where, const std::string& reason, std::string fix) {
  return fail(Exit::unmet, "cannot_start", std::move(where), "cannot be started: " + reason, std::move(fix));
}

Result<std::string> find_command(const Command& command) {
  if (command.argv.empty()) return cannot_start("", "the command is empty", "");
  const std::string& name = command.argv[0];
  if (name.find('/') != std::string::npos) return name;
  const auto path_variable = command.env.find("PATH");
  const std::string folders = path_variable == command.env.end() ? "" : path_variable->second;
  const auto found = find_program(*make_real_file_system(), name, folders);
  if (!found) return cannot_start(name, "it is not on PATH", "install it, or add its folder to PATH");
  return found->string();
}

Result<Prepared> prepare(const Command& command) {
  DSBUILD_TRY(program, find_command(command));
  Prepared prepared;
  prepared.program = program;
  prepared.folder = command.cwd.string();
  prepared.argv = pointers_to(command.argv);
  prepared.environment_texts = texts_of(command.env);
  prepared.environment = pointers_to(prepared.environment_texts);
  prepared.parent = ::getpid();
  return prepared;
}

// A file in memory and no pipe: nobody has to write while the child reads, or does not read.
Descriptor open_input(const std::string& text) {
  if (text.empty()) return open_file("/dev/null", O_RDONLY);
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  for (size_t written = 0; file.is_open() && written < text.size();) {
    const ssize_t count = ::write(file.number(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    written += static_cast<size_t>(count);
  }
  if (file.is_open() && ::lseek(file.number(), 0, SEEK_SET) != 0) return {};
  return file;
}

// Waits for the exec, which closes the pipe; what comes through it before is why it failed.
std::optional<StartFailure> read_failure(int report) {
  StartFailure failure{};
  ssize_t count = 0;
  do {
    count = ::read(report, &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  return count == sizeof failure ? std::optional(failure) : std::nullopt;
}

}  // namespace

tl::unexpected<Error> refused_start(std::string where, int error_number) {
  note_refusal(error_number);
  return fail(Exit::unmet, "cannot_start", std::move(where),
              "cannot be started: " + system_reason(error_number), limit_behind(error_number));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> texts_of(const Environment& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment)
    texts.push_back(name + "=" + value);
  return texts;
}

namespace {

unsigned long long microseconds(const timeval& time) {
  return static_cast<unsigned long long>(time.tv_sec) * 1'000'000 +
         static_cast<unsigned long long>(time.tv_usec);
}

}  // namespace

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Child::Child(Child&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      group_(other.group_),
      exit_code_(other.exit_code_),
      peak_memory_bytes_(other.peak_memory_bytes_),
      cpu_milliseconds_(other.cpu_milliseconds_) {}

Child::~Child() {
  if (id_ < 0 || exit_code_) return;
  send(SIGKILL);
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::send(int signal) const {
  ::kill(group_ == ChildGroup::own ? -id_ : id_, signal);
}

std::optional<int> Child::poll_exit() {
  int status = 0;
  rusage usage{};
  if (!exit_code_ && ::wait4(id_, &status, WNOHANG, &usage) == id_) {
    exit_code_ = exit_code_of(status);
    peak_memory_bytes_ = static_cast<unsigned long long>(usage.ru_maxrss) * 1024;
    cpu_milliseconds_ = (microseconds(usage.ru_utime) + microseconds(usage.ru_stime) + 999) / 1000;
  }
  return exit_code_;
}

Result<Child> start_child(const Command& command, const ChildStart& start) {
  DSBUILD_TRY(prepared, prepare(command));
  const Descriptor input = open_input(command.input);
  std::array<int, 2> report{-1, -1};
  if (!input.is_open() || ::pipe2(report.data(), O_CLOEXEC) != 0) {
    return refused_start(command.argv[0], errno);
  }
  const Descriptor report_in(report[0]);
  Descriptor report_out(report[1]);
  const Descriptor sole = command.is_alone ? open_file(prepared.program, O_PATH) : Descriptor();
  if (command.is_alone && !sole.is_open()) return cannot_start(prepared.program, system_reason(errno), "");
  prepared.input = input.number();
  prepared.sole = sole.number();
  prepared.report = report_out.number();

  const pid_t id = fork_and_become(prepared, start);
  if (id < 0) return refused_start(command.argv[0], errno);
  Child child(id, start.group);
  report_out.close();
  const auto failure = read_failure(report_in.number());
  if (!failure) return child;
  return refused_start(failure->in_folder ? prepared.folder : prepared.program, failure->error_number);
}

}  // namespace dsbuild
