#include "remote/deadline_store.h"

#include <catch2/catch.hpp>
#include <future>

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;
using std::chrono::milliseconds;

// Answers each file by its digest, but never the one named "stuck" until it is let go.
class SlowStore : public RemoteStore {
 public:
  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    if (names.front().digest == "stuck") let_go.get_future().wait();
    return {{State::done, names.front().digest, {}}};
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>&) override { return {{State::done, {}, {}}}; }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>&) override { return {{State::absent, {}, {}}}; }
  void cancel() override { is_cancelled = true; }

  std::promise<void> let_go;
  std::atomic<bool> is_cancelled = false;
};

RemoteName cas_file(const std::string& digest) {
  return {RemoteKind::cas, digest};
}

TEST_CASE("answers come in the order of the questions") {
  const auto store = with_deadlines(std::make_shared<SlowStore>(), "/shared");
  const auto answers = store->get({cas_file("a"), cas_file("b")});
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].bytes == "a");
  CHECK(answers[1].bytes == "b");
  CHECK(store->has({cas_file("a")}).front().state == State::absent);
  CHECK(store->put({{cas_file("a"), "text"}}).front().state == State::done);
  CHECK(store->get({}).empty());
}

TEST_CASE("a file without an answer ends its call and all later ones") {
  const auto slow = std::make_shared<SlowStore>();
  const auto store = with_deadlines(slow, "/shared", {milliseconds(10'000), milliseconds(1'000)});
  const auto answers = store->get({cas_file("a"), cas_file("stuck"), cas_file("b")});
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].state == State::done);
  CHECK(answers[1].state == State::failed);
  CHECK(answers[1].why == "/shared: no answer in 1 s");
  CHECK(answers[2].state == State::failed);
  CHECK(slow->is_cancelled);
  CHECK(store->get({cas_file("a")}).front().why == "/shared: no answer in 1 s");
  slow->let_go.set_value();
}

TEST_CASE("a call without questions is no answer") {
  const auto slow = std::make_shared<SlowStore>();
  const auto store = with_deadlines(slow, "/shared", {milliseconds(1'000), milliseconds(10'000)});
  CHECK(store->get({}).empty());
  CHECK(store->get({cas_file("stuck")}).front().why == "/shared: no answer in 1 s");
  slow->let_go.set_value();
}

TEST_CASE("a store may be gone before its thread has its answer") {
  const auto slow = std::make_shared<SlowStore>();
  const std::weak_ptr<SlowStore> alive = slow;
  with_deadlines(slow, "/shared", {milliseconds(1), milliseconds(1)})->get({cas_file("stuck")});
  CHECK(alive.use_count() > 1);
  slow->let_go.set_value();
}

}  // namespace
}  // namespace dsbuild
