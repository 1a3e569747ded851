// What Python calls: ops/native/async_io/functions.yaml; what it promises: docs/reference/ops.md.
#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "engine.h"
#include "tensor_checks.h"

namespace dsbuild::ops {
namespace {

// A transfer that was asked for, and what its error message starts with: "async_io_read: /data/weights.bin".
struct Request {
  std::unique_ptr<Transfer> transfer;
  std::string where;
  std::optional<tvm::ffi::Tensor> owner;  // keeps the memory
};

// A call that is under way holds the engine: closing lets it end.
class HandleObject : public tvm::ffi::Object {
 public:
  explicit HandleObject(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  // Null once the handle is closed.
  std::shared_ptr<Engine> engine() {
    const std::lock_guard lock(mutex_);
    return engine_;
  }
  void add(Request request) {
    const std::lock_guard lock(mutex_);
    started_.push_back(std::move(request));
  }
  std::vector<Request> take_started() {
    const std::lock_guard lock(mutex_);
    return std::exchange(started_, {});
  }
  void close() {
    const std::lock_guard lock(mutex_);
    engine_.reset();
  }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("dsbuild.AsyncIoHandle", HandleObject, tvm::ffi::Object);

 private:
  std::mutex mutex_;
  std::vector<Request> started_;
  std::shared_ptr<Engine> engine_;  // goes first: it ends when all that was started is done
};

class Handle : public tvm::ffi::ObjectRef {
 public:
  explicit Handle(std::unique_ptr<Engine> engine)
      : ObjectRef(tvm::ffi::make_object<HandleObject>(std::move(engine))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Handle, tvm::ffi::ObjectRef, HandleObject);
};

Handle read_handle(Arguments& arguments) {
  return arguments.object<Handle>("handle", "a handle of async_io_open");
}

std::shared_ptr<Engine> open_engine(const Arguments& arguments, const Handle& handle) {
  std::shared_ptr<Engine> engine = handle->engine();
  if (engine == nullptr) TVM_FFI_THROW(ValueError) << arguments.where("handle") << ": it is closed";
  return engine;
}

int read_count(Arguments& arguments, const char* name, int64_t fallback, int64_t most) {
  const int64_t count = arguments.integer_or(name, fallback);
  check_value(arguments, name, count >= 1 && count <= most,
              ("a number from 1 to " + std::to_string(most)).c_str());
  return static_cast<int>(count);
}

int64_t read_block_size(Arguments& arguments) {
  constexpr int64_t most = int64_t{1} << 30;  // the kernel moves no more than 2 GiB at once
  const int64_t page = direct_alignment();
  const int64_t size = arguments.integer_or("block_size", std::max(int64_t{1} << 20, page));
  check_value(arguments, "block_size", size >= page && size <= most && size % page == 0,
              ("a multiple of the page size " + std::to_string(page) + ", at most 1 GiB").c_str());
  return size;
}

tvm::ffi::Any async_io_open(Arguments& arguments) {
  EngineOptions options{};
  options.queue_depth = read_count(arguments, "queue_depth", 32, 65536);
  options.block_size = read_block_size(arguments);
  options.threads = read_count(arguments, "threads", 1, 256);
  options.direct = arguments.flag_or("direct", true);
  arguments.end();
  std::string error;
  std::unique_ptr<Engine> engine = Engine::start(options, error);
  if (engine == nullptr) TVM_FFI_THROW(RuntimeError) << arguments.function() << ": " << error;
  return Handle(std::move(engine));
}

// Opens the file and hands its blocks to the engine.
Request start(Arguments& arguments, Engine& engine, Direction direction) {
  const TensorArgument tensor = arguments.tensor("tensor");
  Request request;
  request.owner = arguments.owner_of_last();
  const std::string path = arguments.text("path");
  const int64_t offset = arguments.integer_or("offset", 0);
  arguments.end();
  check_device_type(tensor, kDLCPU);
  check_contiguous(tensor);
  const auto length = static_cast<int64_t>(byte_count(tensor));
  check_value(arguments, "offset", offset >= 0 && offset <= std::numeric_limits<int64_t>::max() - length,
              "a place in a file, 0 or more");
  request.where = std::string(arguments.function()) + ": " + path + ": ";
  request.transfer = std::make_unique<Transfer>();
  Transfer& transfer = *request.transfer;
  transfer.direction = direction;
  transfer.data = elements<char>(tensor);
  transfer.offset = offset;
  transfer.length = length;
  const std::string error = transfer.file.open(path, direction, offset, length, engine.options().direct);
  if (!error.empty()) TVM_FFI_THROW(RuntimeError) << request.where << error;
  engine.begin(transfer);
  return request;
}

// Every one is waited for; the first error, in the order of the calls, is raised.
void wait_for(Engine& engine, const std::vector<Request>& requests) {
  for (const Request& request : requests)
    engine.wait(*request.transfer);
  for (const Request& request : requests)
    if (request.transfer->failed) TVM_FFI_THROW(RuntimeError) << request.where << request.transfer->error;
}

template <Direction direction>
tvm::ffi::Any move_now(Arguments& arguments) {
  const Handle handle = read_handle(arguments);
  const std::shared_ptr<Engine> engine = open_engine(arguments, handle);
  std::vector<Request> requests;
  requests.push_back(start(arguments, *engine, direction));
  wait_for(*engine, requests);
  return {};
}

template <Direction direction>
tvm::ffi::Any start_to_move(Arguments& arguments) {
  const Handle handle = read_handle(arguments);
  handle->add(start(arguments, *open_engine(arguments, handle), direction));
  return {};
}

tvm::ffi::Any async_io_wait(Arguments& arguments) {
  const Handle handle = read_handle(arguments);
  arguments.end();
  const std::shared_ptr<Engine> engine = open_engine(arguments, handle);
  const std::vector<Request> requests = handle->take_started();
  wait_for(*engine, requests);
  return static_cast<int64_t>(requests.size());
}

tvm::ffi::Any async_io_close(Arguments& arguments) {
  const Handle handle = read_handle(arguments);
  arguments.end();
  const std::shared_ptr<Engine> engine = handle->engine();
  if (engine == nullptr) return {};
  handle->close();
  wait_for(*engine, handle->take_started());
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(async_io_open, dsbuild::ops::async_io_open)
DSBUILD_EXPORT(async_io_close, dsbuild::ops::async_io_close)
DSBUILD_EXPORT(async_io_read, dsbuild::ops::move_now<dsbuild::ops::Direction::read>)
DSBUILD_EXPORT(async_io_write, dsbuild::ops::move_now<dsbuild::ops::Direction::write>)
DSBUILD_EXPORT(async_io_start_read, dsbuild::ops::start_to_move<dsbuild::ops::Direction::read>)
DSBUILD_EXPORT(async_io_start_write, dsbuild::ops::start_to_move<dsbuild::ops::Direction::write>)
DSBUILD_EXPORT(async_io_wait, dsbuild::ops::async_io_wait)
