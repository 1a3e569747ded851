#include <atomic>
#include <mutex>
#include <set>

#include "remote/cache_archive.h"
#include "remote/cache_archive_layout.h"
#include "remote/tar.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

class TarWriter : public ArchiveWriter {
 public:
  TarWriter(FileSystem& files, const Path& file)
      : files_(files), file_(file), part_(file.string() + ".part") {}
  ~TarWriter() override { (void)files_.remove_all(part_); }
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  Result<void> begin() { return files_.write_file(part_, ""); }

  // It is written, and has nothing that is not to be written again.
  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    return std::vector<RemoteAnswer>(names.size(), {State::absent, {}, {}});
  }

  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override {
    const std::lock_guard lock(mutex_);
    std::vector<RemoteAnswer> answers;
    for (const RemoteName& name : names)
      answers.push_back({written_.contains(member_name(name)) ? State::done : State::absent, {}, {}});
    return answers;
  }

  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override {
    const std::lock_guard lock(mutex_);
    std::vector<RemoteAnswer> answers;
    for (const RemoteFile& file : files) {
      const auto added = is_cancelled_ ? Result<void>() : add(member_name(file.name), file.bytes);
      if (is_cancelled_)
        answers.push_back({State::failed, {}, "the call was cancelled"});
      else if (added)
        answers.push_back({State::done, {}, {}});
      else
        answers.push_back({State::refused, {}, added.error().where + ": " + added.error().what});
    }
    return answers;
  }

  void cancel() override { is_cancelled_ = true; }

  Result<void> finish(const std::string& scope, const std::vector<UpstreamItem>& items) override {
    const std::lock_guard lock(mutex_);
    DSBUILD_CHECK(add(k_archive_keys, render_archive_keys({scope, items})));
    DSBUILD_CHECK(files_.append(part_, tar_end()));
    return files_.rename(part_, file_);
  }

 private:
  Result<void> add(const std::string& name, const std::string& bytes) {
    if (!written_.insert(name).second) return {};
    return files_.append(part_, render_tar_header({name, bytes.size()}) + bytes +
                                    std::string(static_cast<size_t>(tar_padding(bytes.size())), '\0'));
  }

  FileSystem& files_;
  const Path file_, part_;
  std::mutex mutex_;
  std::set<std::string> written_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace

Result<std::shared_ptr<ArchiveWriter>> make_archive(FileSystem& files, const Path& file) {
  auto writer = std::make_shared<TarWriter>(files, file);
  DSBUILD_CHECK(writer->begin());
  return writer;
}

}  // namespace dsbuild
