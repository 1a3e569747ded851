#include "sys/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "sys/descriptor.h"

namespace dsbuild {
namespace {

// A limit as bash's ulimit shows it.
struct Limit {
  __rlimit_resource resource;
  const char* option;
  const char* start;  // of the sentence that has the number
  rlim_t unit;        // 1: it is no size
};
constexpr Limit k_file_size = {RLIMIT_FSIZE, "-f", "no file may be larger than ", 1024};
constexpr Limit k_open_files = {RLIMIT_NOFILE, "-n", "the most files that may be open at once: ", 1};
constexpr Limit k_processes = {RLIMIT_NPROC, "-u", "the most processes and threads of this user: ", 1};
constexpr Limit k_address_space = {RLIMIT_AS, "-v", "the most memory of a process: ", 1024};
constexpr Limit k_data = {RLIMIT_DATA, "-d", "the most data of a process: ", 1024};
constexpr Limit k_stack = {RLIMIT_STACK, "-s", "the largest stack: ", 1024};

std::optional<rlim_t> current(const Limit& limit) {
  rlimit now{};
  if (::getrlimit(limit.resource, &now) != 0 || now.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return now.rlim_cur;
}

std::string in_words(const Limit& limit, rlim_t value) {
  const std::string number = std::to_string(value / limit.unit);
  return limit.start + (limit.unit == 1 ? number : human_size(value)) + "; raise that limit (ulimit " +
         limit.option + ", now " + number + ")";
}

// Those that are set; `otherwise` where none is.
template <size_t Count>
std::string those_set(const std::array<const Limit*, Count>& limits, const std::string& otherwise) {
  std::vector<std::string> lines;
  for (const Limit* limit : limits)
    if (const auto value = current(*limit)) lines.push_back(in_words(*limit, *value));
  return lines.empty() ? otherwise : join(lines, "\n");
}

std::string memory_limits() {
  return those_set(std::array{&k_address_space, &k_data},
                   "free memory, or build with fewer jobs (-j) or a lower --memory");
}

std::string process_limits() {
  return those_set(std::array{&k_processes, &k_address_space, &k_data},
                   "this machine or container allows no more processes (pids.max of its cgroup)");
}

std::string folder_of(const std::string& path) {
  const Path parent = Path(path).parent_path();
  return shell_quote(parent.empty() ? "." : parent.string());
}

std::string fix_for(int error_number, const std::string& path) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free space there (df -h " + folder_of(path) + "), or choose a folder on another disk";
    case EACCES:
    case EPERM:
      return "get the right to it (ls -ld " + folder_of(path) + "), or choose another folder";
    case EROFS:
      return "it is mounted read-only; choose another folder";
    case ENAMETOOLONG:
      return "use a shorter path";
    case ELOOP:
      return "remove the symbolic link that stands there";
    default:
      return limit_behind(error_number);
  }
}

struct Phrase {
  std::string_view text;  // as libc, sh, gcc, ld.so and Ninja write it, in small letters
  int error_number;
};
constexpr Phrase k_phrases[] = {
    {"file too large", EFBIG},
    {"file size limit exceeded", EFBIG},
    {"too many open files in system", ENFILE},
    {"too many open files", EMFILE},
    {"resource temporarily unavailable", EAGAIN},
    {"cannot fork", EAGAIN},
    {"cannot allocate memory", ENOMEM},
    {"out of memory", ENOMEM},
    {"memory exhausted", ENOMEM},
    {"std::bad_alloc", ENOMEM},
    {"failed to map segment", ENOMEM},
};

Error too_low(const Limit& limit, rlim_t value, rlim_t least, const LimitPurpose& purpose) {
  return make_error(Exit::unmet, "limit_too_low", std::string("ulimit ") + limit.option,
                    "it is " + std::to_string(value / limit.unit) + ", which is too low " + purpose.what,
                    "Set it to " + std::to_string(least / limit.unit) + " or more" + purpose.or_else + ".");
}

Result<void> raise(const Limit& limit, rlim_t least, const LimitPurpose& purpose) {
  rlimit now{};
  if (::getrlimit(limit.resource, &now) != 0 || now.rlim_cur >= least) return {};
  const rlim_t before = now.rlim_cur;
  now.rlim_cur = least;
  if (now.rlim_max >= least && ::setrlimit(limit.resource, &now) == 0) return {};
  return tl::unexpected<Error>(too_low(limit, before, least, purpose));
}

// Bit by bit, one for each of these.
constexpr std::array k_refusals{EMFILE, ENFILE, EAGAIN, ENOMEM};
std::atomic<unsigned> g_refused = 0;
static_assert(std::atomic<unsigned>::is_always_lock_free);

Error refused(const std::string& where, const std::string& what, int error_number) {
  return make_error(Exit::unmet, "limit_too_low", where, what, limit_behind(error_number));
}

[[noreturn]] void end_with(const Error& error) {
  std::fprintf(stderr, "error[%s]: %s: %s\n  fix: %s\n", error.code.c_str(), error.where.c_str(),
               visible(error.what).c_str(), visible(error.fix).c_str());
  ::_exit(static_cast<int>(error.exit));
}

[[noreturn]] void say_and_end() {
  try {
    if (const auto fault = std::current_exception()) std::rethrow_exception(fault);
  } catch (const std::exception& fault) {
    end_with(error_of(fault));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

Result<void> raise_own_limits() {
  constexpr rlim_t k_least_stack = 1 << 20, k_least_files = 32;
  const LimitPurpose to_build{"to build anything"};
  DSBUILD_CHECK(raise(k_stack, k_least_stack, to_build));
  return raise(k_open_files, k_least_files, to_build);
}

Result<void> allow_open_files(size_t least, const LimitPurpose& purpose) {
  return raise(k_open_files, least, purpose);
}

std::string limit_behind(int error_number) {
  switch (error_number) {
    case EFBIG:
      return those_set(std::array{&k_file_size},
                       "the file system holds no larger files; choose another folder");
    case EMFILE:
      return those_set(std::array{&k_open_files}, "allow more open files (ulimit -n)");
    case ENFILE:
      return "allow more open files on this machine (sysctl fs.file-max)";
    case EAGAIN:
      return process_limits();
    case ENOMEM:
      return memory_limits();
    default:
      return "";
  }
}

std::string limit_named_in(std::string_view output) {
  const std::string text = to_lower(output);
  for (const Phrase& phrase : k_phrases)
    if (text.find(phrase.text) != std::string::npos) return limit_behind(phrase.error_number);
  // gcc of its parts, one of which may have died for want of memory.
  const bool has_crashed = text.find("signal terminated program") != std::string::npos;
  return has_crashed ? those_set(std::array{&k_address_space, &k_data}, "") : "";
}

void note_refusal(int error_number) {
  for (size_t i = 0; i < k_refusals.size(); ++i)
    if (k_refusals[i] == error_number) g_refused |= 1U << i;
}

Error with_refusals(Error error) {
  for (size_t i = 0; i < k_refusals.size(); ++i) {
    const std::string limit = (g_refused >> i & 1U) != 0 ? limit_behind(k_refusals[i]) : "";
    if (limit.empty() || error.fix.find(limit) != std::string::npos) continue;
    error.fix += (error.fix.empty() ? "" : "\n") + limit;
  }
  return error;
}

Error error_of(const std::exception& fault) {
  if (dynamic_cast<const std::bad_alloc*>(&fault))
    return refused("memory", "the system refuses more", ENOMEM);
  const auto* of_system = dynamic_cast<const std::system_error*>(&fault);
  const int error_number = of_system ? of_system->code().value() : 0;
  if (of_system && error_number == EAGAIN) return refused("threads", "the system refuses another", EAGAIN);
  if (of_system && !limit_behind(error_number).empty())
    return refused("system", system_reason(error_number), error_number);
  return make_error(Exit::internal, "internal", "dsbuild", std::string("internal error: ") + fault.what(),
                    "please report it with the command line");
}

void set_terminate_message() {
  std::set_terminate(say_and_end);
}

tl::unexpected<Error> io_error(const std::string& path, const std::string& doing, int error_number) {
  return fail(Exit::failed, "io", path, doing + ": " + system_reason(error_number),
              fix_for(error_number, path));
}

}  // namespace dsbuild
