#include "worker.h"

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "system_error.h"

namespace dsbuild::ops {
namespace {

std::string kernel_value(const char* name) {
  std::string value = "unknown";
  std::ifstream(std::string("/proc/sys/fs/") + name) >> value;
  return value;
}

}  // namespace

Worker::Worker(Engine& engine, int queue_depth)
    : engine_(engine), slots_(static_cast<size_t>(queue_depth)), events_(slots_.size()) {
  free_.reserve(slots_.size());
  for (Slot& slot : slots_)
    free_.push_back(&slot);
}

Worker::~Worker() {
  if (context_ != nullptr) io_destroy(context_);
}

std::string Worker::open() {
  const int result = io_setup(static_cast<int>(slots_.size()), &context_);
  if (result == 0) return {};
  context_ = nullptr;
  const std::string text = "io_setup: " + errno_text(-result);
  if (result != -EAGAIN) return text;
  return text + "; queue_depth × threads requests do not fit: the system allows " +
         kernel_value("aio-max-nr") + " (fs.aio-max-nr) and has " + kernel_value("aio-nr") +
         " in use; ask for less, or raise it (sysctl -w fs.aio-max-nr=…)";
}

void Worker::run() {
  while (refill()) {
    submit();
    reap();
  }
}

// False when the engine ends and nothing is left.
bool Worker::refill() {
  const bool idle = free_.size() == slots_.size();
  const std::vector<QueuedBlock> taken = engine_.take(free_.size(), idle);
  for (const QueuedBlock& work : taken) {
    Slot& slot = *free_.back();
    free_.pop_back();
    slot.work = work;
    if (work.transfer->failed) {
      release(slot);
    } else {
      make_ready(slot);
    }
  }
  return !idle || !taken.empty();
}

void Worker::make_ready(Slot& slot) {
  const Transfer& transfer = *slot.work.transfer;
  const Block& block = slot.work.block;
  const auto prepare = transfer.direction == Direction::read ? io_prep_pread : io_prep_pwrite;
  prepare(&slot.request, transfer.file.descriptor(block.direct), transfer.data + block.begin,
          static_cast<size_t>(block.length), transfer.offset + block.begin);
  slot.request.data = &slot;
  ready_.push_back(&slot.request);
}

void Worker::submit() {
  while (!ready_.empty()) {
    const int result = io_submit(context_, static_cast<long>(ready_.size()), ready_.data());
    if (result == -EINTR) continue;
    if (result == -EAGAIN || result == 0) {  // the kernel has no room: tried again when a block has ended
      if (in_flight_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
    // An error is the first request's; the others were not looked at.
    Slot& first = *static_cast<Slot*>(ready_.front()->data);
    const size_t gone = result > 0 ? static_cast<size_t>(result) : 1;
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(gone));
    if (result > 0) {
      in_flight_ += gone;
    } else {
      settle(first, result);
    }
  }
}

void Worker::reap() {
  if (in_flight_ == 0) return;
  int count = 0;
  do {
    count = io_getevents(context_, 1, static_cast<long>(events_.size()), events_.data(), nullptr);
  } while (count == -EINTR);
  for (int i = 0; i < count; ++i) {
    --in_flight_;
    const io_event& event = events_[static_cast<size_t>(i)];
    settle(*static_cast<Slot*>(event.data), static_cast<int64_t>(event.res));
  }
}

// `result`: bytes moved, or an errno, negative.
void Worker::settle(Slot& slot, int64_t result) {
  Block& block = slot.work.block;
  const bool try_again = result == -EINTR || result == -EAGAIN;
  const bool refused_as_direct =
      result == -EINVAL && block.direct;  // this file system wants another alignment
  if (try_again || refused_as_direct) {
    block.direct = block.direct && !refused_as_direct;
    make_ready(slot);
  } else if (result < 0) {
    give_up(slot, errno_text(static_cast<int>(-result)));
  } else if (result == 0) {
    give_up(slot,
            slot.work.transfer->direction == Direction::read ? "the file ends here" : "nothing was written");
  } else {
    advance(slot, result);
  }
}

// A read or write may be short; what is left goes through the cache where it is no longer aligned.
void Worker::advance(Slot& slot, int64_t moved) {
  Block& block = slot.work.block;
  block.begin += moved;
  block.length -= moved;
  block.direct = block.direct && moved % direct_alignment() == 0;
  if (block.length > 0) {
    make_ready(slot);
  } else {
    release(slot);
  }
}

void Worker::give_up(Slot& slot, const std::string& what) {
  Transfer& transfer = *slot.work.transfer;
  transfer.fail(transfer.offset + slot.work.block.begin, what);
  release(slot);
}

void Worker::release(Slot& slot) {
  free_.push_back(&slot);
  engine_.block_done(*slot.work.transfer);
}

}  // namespace dsbuild::ops
