// The threads that move blocks, and the queue before them. No tvm-ffi here.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "blocks.h"
#include "transfer.h"

namespace dsbuild::ops {

struct EngineOptions {
  int queue_depth;  // blocks in flight, per thread
  int64_t block_size;
  int threads;
  bool direct;
};

struct QueuedBlock {
  Transfer* transfer;
  Block block;
};

class Worker;

class Engine {
 public:
  // Null with the reason in `error` if the system gives no contexts for asynchronous I/O.
  static std::unique_ptr<Engine> start(const EngineOptions& options, std::string& error);

  // Ends when all that was started is done.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const EngineOptions& options() const { return options_; }

  // The transfer's file is open; it stays alive until `wait` has returned for it, or the engine is gone.
  void begin(Transfer& transfer);
  void wait(Transfer& transfer);

  // For workers: up to `most` blocks, and no more than a worker's share. Without any, waits for some if
  // `may_wait`, and then gives none only when the engine ends.
  std::vector<QueuedBlock> take(size_t most, bool may_wait);
  void block_done(Transfer& transfer);

 private:
  explicit Engine(const EngineOptions& options);
  void finish(Transfer& transfer);

  const EngineOptions options_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable finished_;
  std::deque<QueuedBlock> queue_;
  bool ending_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace dsbuild::ops
