#include "remote/deadline_store.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

// What the waiting caller and the thread that asks have in common. The thread may outlive the caller.
template <class Question>
struct Call {
  explicit Call(const std::vector<Question>& asked) : questions(asked) { answers.reserve(asked.size()); }

  const std::vector<Question> questions;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<RemoteAnswer> answers;  // so far
};

class DeadlineStore : public RemoteStore {
 public:
  DeadlineStore(std::shared_ptr<RemoteStore> store, std::string name, StoreDeadlines deadlines)
      : store_(std::move(store)), name_(std::move(name)), deadlines_(deadlines) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    return ask(names, &RemoteStore::get);
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override {
    return ask(files, &RemoteStore::put);
  }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override {
    return ask(names, &RemoteStore::has);
  }
  bool takes_contents() const override { return store_->takes_contents(); }
  bool may_put() override { return store_->may_put(); }
  std::optional<uint64_t> requests() const override { return store_->requests(); }
  void cancel() override {
    store_->cancel();
    const std::lock_guard lock(mutex_);
    if (why_given_up_.empty()) why_given_up_ = "the call was cancelled";
  }

 private:
  template <class Question>
  using Method = std::vector<RemoteAnswer> (RemoteStore::*)(const std::vector<Question>&);

  template <class Question>
  std::vector<RemoteAnswer> ask(const std::vector<Question>& questions, Method<Question> method) {
    auto call = std::make_shared<Call<Question>>(questions);
    if (why_given_up().empty()) {
      std::thread(answer_all<Question>, store_, method, call).detach();
      wait_for(*call);
    }
    const std::lock_guard lock(call->mutex);
    std::vector<RemoteAnswer> answers = std::move(call->answers);
    answers.resize(questions.size(), {State::failed, {}, why_given_up()});
    return answers;
  }

  template <class Question>
  static void answer_all(const std::shared_ptr<RemoteStore>& store, Method<Question> method,
                         const std::shared_ptr<Call<Question>>& call) {
    for (const Question& question : call->questions) {
      std::vector<RemoteAnswer> answer = (store.get()->*method)({question});
      const std::lock_guard lock(call->mutex);
      call->answers.push_back(std::move(answer.front()));
      call->changed.notify_one();
    }
  }

  // Until all is answered, or one file took too long.
  template <class Question>
  void wait_for(Call<Question>& call) {
    std::unique_lock lock(call.mutex);
    while (true) {
      has_answered_ = has_answered_ || !call.answers.empty();
      if (call.answers.size() == call.questions.size()) return;
      const std::chrono::milliseconds most = has_answered_ ? deadlines_.each : deadlines_.first;
      const size_t before = call.answers.size();
      if (!call.changed.wait_for(lock, most, [&] { return call.answers.size() > before; }))
        return give_up(most);
    }
  }

  void give_up(std::chrono::milliseconds most) {
    store_->cancel();
    const std::lock_guard lock(mutex_);
    if (why_given_up_.empty())
      why_given_up_ = name_ + ": no answer in " + std::to_string(most.count() / 1000) + " s";
  }

  std::string why_given_up() const {
    const std::lock_guard lock(mutex_);
    return why_given_up_;
  }

  const std::shared_ptr<RemoteStore> store_;
  const std::string name_;
  const StoreDeadlines deadlines_;
  std::atomic<bool> has_answered_ = false;
  mutable std::mutex mutex_;
  std::string why_given_up_;  // empty: it answers
};

}  // namespace

std::unique_ptr<RemoteStore> with_deadlines(std::shared_ptr<RemoteStore> store, std::string name,
                                            StoreDeadlines deadlines) {
  return std::make_unique<DeadlineStore>(std::move(store), std::move(name), deadlines);
}

}  // namespace dsbuild
