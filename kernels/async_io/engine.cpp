#include "engine.h"

#include <algorithm>
#include <system_error>

#include "worker.h"

namespace dsbuild::ops {

Engine::Engine(const EngineOptions& options) : options_(options) {}

std::unique_ptr<Engine> Engine::start(const EngineOptions& options, std::string& error) {
  std::unique_ptr<Engine> engine(new Engine(options));
  for (int i = 0; i < options.threads; ++i) {
    auto worker = std::make_unique<Worker>(*engine, options.queue_depth);
    error = worker->open();
    if (!error.empty()) return nullptr;
    engine->workers_.push_back(std::move(worker));
  }
  try {
    for (const auto& worker : engine->workers_)
      engine->threads_.emplace_back(&Worker::run, worker.get());
  } catch (const std::system_error& refused) {
    error = std::string("a thread cannot be started: ") + refused.what();
    return nullptr;
  }
  return engine;
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void Engine::begin(Transfer& transfer) {
  const bool direct = options_.direct && transfer.file.has_direct();
  const std::vector<Block> blocks =
      cut_into_blocks(transfer.data, transfer.offset, transfer.length, options_.block_size, direct);
  transfer.blocks_left = static_cast<int64_t>(blocks.size());
  if (blocks.empty()) {
    finish(transfer);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    for (const Block& block : blocks)
      queue_.push_back({&transfer, block});
  }
  work_.notify_all();
}

void Engine::wait(Transfer& transfer) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return transfer.done; });
}

std::vector<QueuedBlock> Engine::take(size_t most, bool may_wait) {
  std::unique_lock lock(mutex_);
  if (may_wait) work_.wait(lock, [&] { return !queue_.empty() || ending_; });
  const size_t fair = (queue_.size() + workers_.size() - 1) / workers_.size();
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(most, fair));
  std::vector<QueuedBlock> taken(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return taken;
}

void Engine::block_done(Transfer& transfer) {
  if (--transfer.blocks_left == 0) finish(transfer);
}

void Engine::finish(Transfer& transfer) {
  const std::string error = transfer.file.close();
  if (!error.empty()) transfer.fail(transfer.offset, error);
  {
    const std::lock_guard lock(mutex_);
    transfer.done = true;
  }
  finished_.notify_all();
}

}  // namespace dsbuild::ops
