#include "files.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace icpx {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  if (!(bytes << in.rdbuf()) && in.bad()) throw std::runtime_error("cannot read " + path.string());
  if (!in.is_open()) throw std::runtime_error("no such file or directory: '" + path.string() + "'");
  return bytes.str();
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

WorkFolder::WorkFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "icpx-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error(std::string("no temporary folder: ") + strerror(errno));
  path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void run(const std::vector<std::string>& words, bool quiet) {
  WorkFolder work;
  const std::string log = work / "log";
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (quiet) {
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("cannot start " + words[0] + ": " + strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (quiet) std::cerr << read_file(log);
  throw std::runtime_error(words[0] + " command failed");
}

}  // namespace icpx
