#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern char** environ;

namespace fake {

void fail(const std::string& message, int code) {
  fprintf(stderr, "%s\n", message.c_str());
  exit(code);
}

bool starts_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

Words split(std::string_view text, char at) {
  Words words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Words split_blanks(std::string_view text) {
  Words words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view k_safe = "@%+=:,./-_";
  bool safe = !word.empty();
  for (const char c : word)
    safe = safe && (isalnum(static_cast<unsigned char>(c)) != 0 || k_safe.find(c) != k_safe.npos);
  if (safe) return word;
  std::string text = "'";
  for (const char c : word)
    text += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return text + "'";
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string file_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

std::string stem_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == path.npos || dot == 0 ? path : path.substr(0, dot);
}

std::string value_of(const Words& argv, const std::string& option) {
  for (size_t i = 0; i + 1 < argv.size(); ++i)
    if (argv[i] == option) return argv[i + 1];
  return "";
}

bool has(const Words& argv, const std::string& word) {
  for (const std::string& each : argv)
    if (each == word) return true;
  return false;
}

// ---- files

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool is_file(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Words names_in(const std::string& folder) {
  Words names;
  if (DIR* const opened = opendir(folder.c_str())) {
    while (const dirent* entry = readdir(opened))
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    closedir(opened);
  }
  std::sort(names.begin(), names.end());
  return names;
}

static bool read_into(const std::string& path, std::string& data) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char buffer[65536];
  ssize_t size = 0;
  while ((size = ::read(file, buffer, sizeof buffer)) > 0)
    data.append(buffer, static_cast<size_t>(size));
  const int error = errno;
  close(file);
  errno = error;
  return size == 0;
}

std::string read_or_empty(const std::string& path) {
  std::string data;
  return read_into(path, data) ? data : "";
}

static void fail_at(const std::string& path, const std::string& who) {
  fail(who + " fatal   : " + strerror(errno) + ": '" + path + "'");
}

std::string read(const std::string& path, const std::string& who) {
  std::string data;
  if (!read_into(path, data)) fail_at(path, who);
  return data;
}

static void write_all(int file, std::string_view data, const std::string& path, const std::string& who) {
  while (!data.empty()) {
    const ssize_t size = ::write(file, data.data(), data.size());
    if (size < 0) fail_at(path, who);
    data.remove_prefix(static_cast<size_t>(size));
  }
}

void write(const std::string& path, std::string_view data, const std::string& who, unsigned mode) {
  write_in_halves(path, data, 0, who, mode);
}

void write_in_halves(const std::string& path, std::string_view data, double pause, const std::string& who,
                     unsigned mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) fail_at(path, who);
  const size_t half = pause > 0 ? data.size() / 2 : data.size();
  write_all(file, data.substr(0, half), path, who);
  wait_for(pause);
  write_all(file, data.substr(half), path, who);
  close(file);
}

void append_line(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  (void)!::write(file, text.data(), text.size());
  close(file);
}

void wait_for(double seconds) {
  if (seconds <= 0) return;
  const auto whole = static_cast<time_t>(seconds);
  const timespec time = {whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  nanosleep(&time, nullptr);
}

std::string current_folder() {
  char* name = getcwd(nullptr, 0);
  std::string folder = name != nullptr ? name : "";
  free(name);
  return folder;
}

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

std::string depfile(const std::string& target, const Words& inputs) {
  std::string text = target + ":";
  for (const std::string& input : inputs) {
    text += text.back() == ':' ? " " : " \\\n ";
    for (const char c : input) {
      if (c == '$') text += '$';
      if (c == ' ' || c == '#') text += '\\';
      text += c;
    }
  }
  return text + "\n";
}

// ---- digests

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

uint64_t digest(std::string_view text, uint64_t seed) {
  uint64_t hash = 0xCBF29CE484222325 ^ mixed(seed);
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return mixed(hash);
}

std::string hex_digest(std::string_view text) {
  char buffer[33];
  snprintf(buffer, sizeof buffer, "%016llx%016llx", static_cast<unsigned long long>(digest(text)),
           static_cast<unsigned long long>(digest(text, 1)));
  return buffer;
}

std::string noise(std::string_view seed, size_t size) {
  std::string bytes;
  const uint64_t start = digest(seed), step = digest(seed, 2) | 1;
  for (uint64_t number = 0; bytes.size() < size; ++number) {
    const uint64_t word = mixed(start + number * step);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes.resize(size - size % 8);
  return bytes;
}

// ---- programs

std::string own_program() {
  char name[4096];
  const ssize_t size = readlink("/proc/self/exe", name, sizeof name);
  return size > 0 ? std::string(name, static_cast<size_t>(size)) : "";
}

std::string own_folder() {
  return folder_of(own_program());
}

std::string mark_of(const std::string& program) {
  constexpr off_t k_longest = 64;
  const int file = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  char buffer[k_longest];
  const off_t end = lseek(file, 0, SEEK_END);
  const ssize_t size = pread(file, buffer, sizeof buffer, std::max<off_t>(end - k_longest, 0));
  close(file);
  const std::string_view tail(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  constexpr std::string_view k_mark = "\nFAKE:";
  const size_t at = tail.rfind(k_mark);
  return at == tail.npos ? "" : std::string(tail.substr(at + k_mark.size()));
}

std::string own_mark() {
  return mark_of(own_program());
}

static std::vector<char*> pointers(const Words& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  return words;
}

int run(const Words& argv, std::string* output) {
  int ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output != nullptr) {
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0].c_str(), &actions, nullptr, pointers(argv).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(argv[0] + ": " + strerror(error));
  if (output != nullptr) {
    close(ends[1]);
    char buffer[65536];
    for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      output->append(buffer, static_cast<size_t>(size));
    close(ends[0]);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void become(const Words& argv) {
  execvp(argv[0].c_str(), pointers(argv).data());
  fail(argv[0] + ": " + strerror(errno));
}

}  // namespace fake
