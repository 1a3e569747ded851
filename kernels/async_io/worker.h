// One thread with a context of the kernel's asynchronous I/O and up to `queue_depth` blocks in it.
#pragma once

#include <libaio.h>

#include <string>
#include <vector>

#include "engine.h"

namespace dsbuild::ops {

class Worker {
 public:
  Worker(Engine& engine, int queue_depth);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // "" or why there is no context. To be called once, before `run`.
  std::string open();

  // Moves the engine's blocks until it ends.
  void run();

 private:
  struct Slot {
    iocb request;
    QueuedBlock work;
  };

  bool refill();
  void make_ready(Slot& slot);
  void submit();
  void reap();
  void settle(Slot& slot, int64_t result);
  void advance(Slot& slot, int64_t moved);
  void give_up(Slot& slot, const std::string& what);
  void release(Slot& slot);

  Engine& engine_;
  io_context_t context_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<Slot*> free_;
  std::vector<iocb*> ready_;  // to be submitted
  std::vector<io_event> events_;
  size_t in_flight_ = 0;
};

}  // namespace dsbuild::ops
