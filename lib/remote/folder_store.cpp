#include "remote/folder_store.h"

#include <atomic>

#include "cache/cache_layout.h"
#include "cache/local_cache.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

class FolderStore : public RemoteStore {
 public:
  FolderStore(std::shared_ptr<FileSystem> files, const Path& folder, bool read_only)
      : files_(std::move(files)), folder_(*files_, folder), is_read_only_(read_only) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    return each(names, [&](const RemoteName& name) { return get_one(file_of(name)); });
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override {
    return each(files, [&](const RemoteFile& file) { return put_one(file); });
  }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override {
    return each(names, [&](const RemoteName& name) { return has_one(file_of(name)); });
  }
  void cancel() override { is_cancelled_ = true; }

 private:
  template <class Question, class Answer>
  std::vector<RemoteAnswer> each(const std::vector<Question>& questions, const Answer& answer) const {
    std::vector<RemoteAnswer> answers;
    answers.reserve(questions.size());
    for (const Question& question : questions)
      answers.push_back(is_cancelled_ ? RemoteAnswer{State::failed, {}, "the call was cancelled"}
                                      : answer(question));
    return answers;
  }

  Path file_of(const RemoteName& name) const {
    return name.kind == RemoteKind::ac ? result_file(folder_.path(), name.digest)
                                       : blob_file(folder_.path(), name.digest);
  }

  // One that may not be read is no reason to build without a word: it says so.
  RemoteAnswer get_one(const Path& file) const {
    if (auto bytes = folder_.read(file)) return {State::done, std::move(*bytes), {}};
    if (files_->opening(file) == Opening::absent) return {State::absent, {}, {}};
    const auto again = files_->read_file(file);
    return {State::failed, {}, file.string() + ": " + (again ? "not a regular file" : again.error().what)};
  }

  RemoteAnswer has_one(const Path& file) const {
    return {folder_.has(file) ? State::done : State::absent, {}, {}};
  }

  RemoteAnswer put_one(const RemoteFile& file) const {
    if (is_read_only_) return {State::refused, {}, folder_.path().string() + ": used for reading alone"};
    const Path path = file_of(file.name);
    auto written = files_->make_directories(path.parent_path());
    if (written) written = files_->write_file(path, file.bytes);
    if (written) return {State::done, {}, {}};
    return {State::refused, {}, written.error().where + ": " + written.error().what};
  }

  const std::shared_ptr<FileSystem> files_;
  const LocalFolder folder_;
  const bool is_read_only_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace

Result<std::unique_ptr<RemoteStore>> open_folder_store(std::shared_ptr<FileSystem> files, const Path& folder,
                                                       bool read_only, StoreDeadlines deadlines) {
  if (!folder.is_absolute())
    return fail(Exit::usage, "bad_remote_url", folder.string(),
                "the folder of a remote cache is not absolute", "Give it as file:///folder.");
  return with_deadlines(std::make_shared<FolderStore>(std::move(files), folder, read_only), folder.string(),
                        deadlines);
}

}  // namespace dsbuild
