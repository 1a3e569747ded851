#include "sys/host_slots.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "sys/descriptor.h"

namespace dsbuild {
namespace {

// How long a turn is looked for again where there is none. Compilers run for seconds.
constexpr std::chrono::milliseconds k_look_interval{10};

// Who waits stands in the kernel's queue for this file, and its first asks for a turn.
constexpr const char* k_entrance = "entrance";
constexpr const char* k_end_of_turns = ".turn";

bool lock(const Descriptor& file, int how) {
  while (::flock(file.number(), how) != 0)
    if (errno != EINTR) return false;
  return true;
}

class LockedFile : public HostSlot {
 public:
  LockedFile(Path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  ~LockedFile() override { ::unlink(path_.c_str()); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

 private:
  Path path_;
  Descriptor file_;
};

// Of a turn's file: what it holds; nullopt, and the file is removed, where its process is no more.
std::optional<ByteCount> bytes_of_turn(const Path& path) {
  const Descriptor file = open_file(path, O_RDONLY | O_NOFOLLOW);
  if (!file.is_open()) return std::nullopt;
  if (lock(file, LOCK_SH | LOCK_NB)) {
    ::unlink(path.c_str());
    return std::nullopt;
  }
  std::array<char, 32> text{};
  const ssize_t size = ::pread(file.number(), text.data(), text.size(), 0);
  const auto bytes = whole_number<ByteCount>({text.data(), size > 0 ? static_cast<size_t>(size) : 0});
  return bytes.value_or(0);
}

struct Held {
  int turns = 0;
  ByteCount bytes = 0;
};

Held count_turns(const Path& folder) {
  Held held;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().string().ends_with(k_end_of_turns)) continue;
    if (const auto bytes = bytes_of_turn(entry->path())) {
      ++held.turns;
      held.bytes += *bytes;
    }
  }
  return held;
}

bool has_room(const Held& held, const NodeBound& bound, ByteCount bytes) {
  return held.turns == 0 || (held.turns < bound.turns && held.bytes + bytes <= bound.bytes);
}

// Locked before it has the name by which others count it.
Result<std::unique_ptr<HostSlot>> make_turn(const Path& folder, ByteCount bytes) {
  static std::atomic<int> number = 0;
  const std::string name = std::to_string(::getpid()) + "-" + std::to_string(number++);
  const Path path = folder / (name + k_end_of_turns), unnamed = folder / (name + ".new");
  Descriptor file = open_file(unnamed, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  const std::string text = std::to_string(bytes);
  if (!file.is_open() || !lock(file, LOCK_EX | LOCK_NB) ||
      ::pwrite(file.number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::rename(unnamed.c_str(), path.c_str()) != 0)
    return io_error(path, "taking a turn of this node", errno);
  return std::make_unique<LockedFile>(path, std::move(file));
}

}  // namespace

Result<std::unique_ptr<HostSlot>> take_node_turn(const Path& folder, const NodeBound& bound,
                                                 ByteCount bytes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const Descriptor entrance = open_file(folder / k_entrance, O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
  if (!entrance.is_open() || !lock(entrance, LOCK_EX))
    return io_error(folder / k_entrance, "waiting for a turn of this node", errno);
  while (!has_room(count_turns(folder), bound, bytes))
    std::this_thread::sleep_for(k_look_interval);
  return make_turn(folder, bytes);
}

}  // namespace dsbuild
