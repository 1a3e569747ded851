// A file system of which one change fails, or after which nothing happens any more.
#pragma once

#include <string>

#include "sys/forwarding_file_system.h"

namespace dsbuild {

enum class Fault { error, kill };  // one call fails; or nothing after it happens any more

// The real disk, with the n-th change failing as a full disk does: a file that was to be written is half
// there.
class FaultyFileSystem : public ForwardingFileSystem {
 public:
  FaultyFileSystem(FileSystem& real, int fail_at, Fault fault)
      : ForwardingFileSystem(real), fail_at_(fail_at), fault_(fault) {}
  bool can_exchange = true;
  std::optional<uint64_t> free;  // of its disk, where it is not to be the real one's
  bool was_hit() const { return calls_ >= fail_at_; }

  std::optional<uint64_t> free_bytes(const Path& path) const override {
    return free ? free : files_.free_bytes(path);
  }

  Result<void> write_file(const Path& path, std::string_view bytes, bool durable) override {
    if (Step step = next(); step != Step::works) return broken_write(step, path, bytes);
    return files_.write_file(path, bytes, durable);
  }
  Result<void> append(const Path& path, std::string_view bytes) override {
    return next() == Step::works ? files_.append(path, bytes) : failure(path);
  }
  Result<void> set_mtime(const Path& path, int64_t mtime_ns) override {
    return next() == Step::works ? files_.set_mtime(path, mtime_ns) : failure(path);
  }
  Result<void> copy_file(const Path& from, const Path& to, bool executable) override {
    if (Step step = next(); step != Step::works)
      return broken_write(step, to, files_.read_file(from).value_or(""));
    return files_.copy_file(from, to, executable);
  }
  Result<void> make_directories(const Path& path) override {
    return next() == Step::works ? files_.make_directories(path) : failure(path);
  }
  Result<void> make_symlink(const Path& target, const Path& link) override {
    return next() == Step::works ? files_.make_symlink(target, link) : failure(link);
  }
  Result<void> rename(const Path& from, const Path& to) override {
    return next() == Step::works ? files_.rename(from, to) : failure(to);
  }
  Result<void> exchange(const Path& a, const Path& b) override {
    if (next() != Step::works) return failure(a);
    return can_exchange ? files_.exchange(a, b)
                        : fail(Exit::failed, "cannot_exchange", a.string(), "mount point");
  }
  Result<void> remove_all(const Path& path) override {
    return next() == Step::works ? files_.remove_all(path) : failure(path);
  }
  Result<void> sync_directory(const Path& path) override {
    return next() == Step::works ? files_.sync_directory(path) : failure(path);
  }

 private:
  enum class Step { works, fails, is_dead };
  Step next() {
    ++calls_;
    if (calls_ == fail_at_) return Step::fails;
    return fault_ == Fault::kill && calls_ > fail_at_ ? Step::is_dead : Step::works;
  }
  tl::unexpected<Error> failure(const Path& path) const {
    return fail(Exit::failed, "io", path.string(), "writing: No space left on device");
  }
  Result<void> broken_write(Step step, const Path& path, std::string_view bytes) const {
    if (step == Step::fails) static_cast<void>(files_.write_file(path, bytes.substr(0, bytes.size() / 2)));
    return failure(path);
  }

  int fail_at_;
  Fault fault_;
  int calls_ = 0;
};

}  // namespace dsbuild
