#include "locked_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>

#include "system_error.h"

namespace dsbuild::ops {
namespace {

struct Block {
  size_t bytes;  // whole pages
  bool locked;
};

struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, Block> by_address;
};

// Never destroyed: a tensor may be freed later than static objects are.
Blocks& blocks() {
  static Blocks& all = *new Blocks;
  return all;
}

// The block that holds this address, or the map's end. Under the mutex.
std::map<uintptr_t, Block>::iterator block_around(uintptr_t address) {
  auto& map = blocks().by_address;
  auto next = map.upper_bound(address);
  if (next == map.begin()) return map.end();
  --next;
  return address - next->first < next->second.bytes ? next : map.end();
}

std::string limit_text() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string value =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
  return "RLIMIT_MEMLOCK is " + value + ", and " + std::to_string(locked_bytes()) +
         " bytes are locked here already; raise it (ulimit -l KIB, LimitMEMLOCK= in a systemd unit, "
         "docker run --ulimit memlock=BYTES) or run with CAP_IPC_LOCK";
}

std::string refusal(const char* call, size_t bytes, int code) {
  std::string text = std::to_string(bytes) + " bytes cannot be " + call + ": " + errno_text(code);
  const bool over_limit =
      call == std::string("locked") && (code == ENOMEM || code == EPERM || code == EAGAIN);
  return over_limit ? text + "; " + limit_text() : text;
}

}  // namespace

LockedBlock allocate_locked(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t wanted = bytes == 0 ? 1 : bytes;
  if (wanted > SIZE_MAX - page) return {nullptr, refusal("allocated", bytes, ENOMEM)};
  const size_t whole = (wanted + page - 1) / page * page;
  void* data = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return {nullptr, refusal("allocated", whole, errno)};
  if (mlock(data, whole) != 0) {
    const int code = errno;
    munmap(data, whole);
    return {nullptr, refusal("locked", whole, code)};
  }
  const std::lock_guard lock(blocks().mutex);
  blocks().by_address[reinterpret_cast<uintptr_t>(data)] = {whole, true};
  return {data, {}};
}

void free_locked(void* data) {
  const std::lock_guard lock(blocks().mutex);
  const auto block = blocks().by_address.find(reinterpret_cast<uintptr_t>(data));
  if (block == blocks().by_address.end()) return;
  munmap(data, block->second.bytes);  // unlocks too
  blocks().by_address.erase(block);
}

bool unlock(const void* data) {
  const std::lock_guard lock(blocks().mutex);
  const auto block = block_around(reinterpret_cast<uintptr_t>(data));
  if (block == blocks().by_address.end() || !block->second.locked) return false;
  block->second.locked = false;
  return munlock(reinterpret_cast<const void*>(block->first), block->second.bytes) == 0;
}

bool is_locked(const void* data, size_t bytes) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  const std::lock_guard lock(blocks().mutex);
  const auto block = block_around(address);
  if (block == blocks().by_address.end() || !block->second.locked) return false;
  return bytes <= block->second.bytes - (address - block->first);
}

size_t locked_bytes() {
  const std::lock_guard lock(blocks().mutex);
  size_t sum = 0;
  for (const auto& [address, block] : blocks().by_address)
    sum += block.locked ? block.bytes : 0;
  return sum;
}

}  // namespace dsbuild::ops
