#include "sys/parent.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>

namespace dsbuild {
namespace {

bool is_number(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "" of one that has ended, or is another user's.
std::string folder_of_process(const std::string& id) {
  std::array<char, 4096> buffer;
  const ssize_t length = ::readlink(("/proc/" + id + "/cwd").c_str(), buffer.data(), buffer.size());
  return length > 0 ? std::string(buffer.data(), static_cast<size_t>(length)) : "";
}

}  // namespace

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

bool is_worked_in(const Path& folder) {
  std::error_code absent;
  const std::string whole = std::filesystem::canonical(folder, absent).string() + "/";
  DIR* const processes = absent ? nullptr : ::opendir("/proc");
  if (processes == nullptr) return false;
  bool any = false;
  const std::string own = std::to_string(::getpid());
  while (const dirent* entry = any ? nullptr : ::readdir(processes)) {
    const std::string id = entry->d_name;
    any = is_number(id) && id != own && (folder_of_process(id) + "/").starts_with(whole);
  }
  ::closedir(processes);
  return any;
}

}  // namespace dsbuild
