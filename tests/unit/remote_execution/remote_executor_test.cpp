#include "remote_execution/remote_executor.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "base/base64.h"
#include "base/digest.h"
#include "base/json.h"
#include "exec/build_runner.h"
#include "support/temp_folder.h"

namespace dsbuild {
namespace {

using namespace std::chrono_literals;
using State = ExecutionEnd::State;
using Run = std::function<ExecutionEnd(const ExecutionRequest&)>;

ExecutionEnd ended_well() {
  return {.state = State::done, .out = "said", .outputs = {{"out.cubin", "made"}}};
}

// What a service does is a function; how many tools it has at once is counted.
class Service : public ExecutionService {
 public:
  explicit Service(Run run) : run_(std::move(run)) {}
  ExecutionEnd execute(const ExecutionRequest& request) override {
    ++asked;
    const int now = ++running_;
    for (int most = most_at_once; now > most && !most_at_once.compare_exchange_weak(most, now);) {
    }
    ExecutionEnd end = run_(request);
    --running_;
    return end;
  }
  uint64_t bytes_sent() const override { return 0; }
  uint64_t bytes_received() const override { return 0; }
  uint64_t calls() const override { return 0; }

  std::atomic<int> asked = 0, most_at_once = 0;

 private:
  const Run run_;
  std::atomic<int> running_ = 0;
};

// A build of which one machine has 10 s of work an edge, and no idle core.
class World {
 public:
  explicit World(Run run, size_t slots = 8) : service_(std::make_shared<Service>(std::move(run))) {
    std::string parts;
    for (const char* name : {"ptxas", "ld-linux-x86-64.so.2"})
      parts += sha256(name) + " " + folder_.add(std::string("tools/") + name, name).string() + "\n";
    ExecutorOptions options;
    options.slots = slots;
    executor_ = std::make_unique<RemoteExecutor>(
        service_, std::vector<RemoteTools>{RemoteTools(parts, *files_)}, options,
        BuildView{[this](const std::string&) { return expected_seconds; },
                  [this] { return idle_cores.load(); }, [] { return true; }},
        *files_);
  }

  // The request of a step, and the answer.
  std::string ask(const std::string& name = "a", const std::string& program = "ptxas") {
    const std::vector<std::string> outputs = {"out.cubin"};
    const Json request = {{"output", name + ".o"},
                          {"argv", std::vector<std::string>{program, "in.ptx"}},
                          {"environment", Json::object()},
                          {"inputs", std::vector<std::string>{"in.ptx"}},
                          {"outputs", outputs},
                          {"required", outputs}};
    folder_.add(name + "/in.ptx", name);
    return executor_->answer(std::string(k_execute) + " " +
                             folder_.add(name + "/" + k_request_name, request.dump()).string());
  }
  ExecutorUses uses() const { return executor_->uses(); }
  Service& service() { return *service_; }
  RemoteExecutor& executor() { return *executor_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  double expected_seconds = 10;
  std::atomic<size_t> idle_cores = 0;

 private:
  TempFolder folder_;
  std::unique_ptr<FileSystem> files_ = make_real_file_system();
  std::shared_ptr<Service> service_;
  std::unique_ptr<RemoteExecutor> executor_;  // last, for it uses the others
};

}  // namespace

TEST_CASE("executor: a tool's answer and its outputs lie next to its request") {
  World world([](const ExecutionRequest& request) {
    CHECK(request.command.arguments.back() == "in.ptx");
    CHECK(request.command.output_paths == std::vector<std::string>{"out.cubin"});
    CHECK(request.required == request.command.output_paths);
    CHECK(request.inputs.contains("in.ptx"));
    CHECK(request.tools != nullptr);
    return ended_well();
  });
  CHECK(world.ask("a") == k_done);
  CHECK(bytes_of(world.folder() / "a" / k_outputs_name / "out.cubin") == "made");
  const auto answer = Json::parse(bytes_of(world.folder() / "a" / k_answer_name));
  REQUIRE(answer);
  CHECK(text_at(*answer, "out") == base64("said"));
  CHECK(world.uses().executed == 1);
  CHECK(world.uses().edges.at("a.o").tools == 1);
}

TEST_CASE("executor: what is no request, and what is none of the tools, runs here") {
  World world([](const ExecutionRequest&) { return ended_well(); });
  CHECK(world.ask("a", "nvlink") == k_local);
  CHECK(world.executor().answer("execute /nowhere") == k_local);
  CHECK(world.executor().answer("wait 7") == k_local);
  CHECK(world.executor().answer("") == k_local);
  CHECK(world.service().asked == 0);
  CHECK(world.uses().asked.empty());
}

// Red where a tool begins before another has given up its slot.
TEST_CASE("executor: as many tools are there as there are slots") {
  World world(
      [](const ExecutionRequest&) {
        std::this_thread::sleep_for(30ms);
        return ended_well();
      },
      3);
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 12; ++i)
    answers.push_back(std::async(std::launch::async, [&world, i] { return world.ask(std::to_string(i)); }));
  for (auto& answer : answers)
    CHECK(answer.get() == k_done);
  CHECK(world.service().asked == 12);
  CHECK(world.service().most_at_once == 3);
}

// Red where the deadline is not of what edges took, or has no least: a short tool on a slow worker would end.
TEST_CASE("executor: a tool has five times what its edge takes here, and ten minutes for the queue") {
  std::chrono::milliseconds deadline{0};
  World world([&](const ExecutionRequest& request) {
    deadline = request.deadline;
    return ended_well();
  });
  for (const auto& [expected, tool] :
       {std::pair(10.0, 50'000), std::pair(100.0, 500'000), std::pair(0.0, 20'000)}) {
    world.expected_seconds = expected;
    CHECK(world.ask() == k_done);
    CHECK(deadline == std::chrono::milliseconds(600'000 + tool));
  }
}

TEST_CASE("executor: after three failures in a row the rest runs here") {
  std::vector<State> states = {State::failed, State::failed, State::done,
                               State::failed, State::failed, State::failed};
  size_t next = 0;
  World world([&](const ExecutionRequest&) {
    ExecutionEnd end = ended_well();
    end.state = states.at(next++);
    end.why = "number " + std::to_string(next);
    return end;
  });
  for (const State state : states) {
    CHECK(world.uses().off == "");
    CHECK(world.ask() == (state == State::done ? k_done : k_local));
  }
  CHECK(world.uses().off == "3 failures in a row, the last: number 6");
  CHECK(world.ask() == k_local);
  CHECK(world.service().asked == 6);
  CHECK(world.uses().failed == 5);
}

TEST_CASE("executor: tools that fail there alone count as failures; a refusal ends it at once") {
  World wrong([](const ExecutionRequest&) { return ExecutionEnd{.state = State::done, .exit_code = 1}; });
  for (int i = 0; i < 3; ++i) {
    CHECK(wrong.ask() == k_done);
    CHECK(wrong.executor().answer("wrong a") == k_yes);
  }
  CHECK(wrong.uses().off == "3 failures in a row, the last: a tool failed there, and not here");

  World refused([](const ExecutionRequest&) { return ExecutionEnd{.state = State::refused, .why = "no"}; });
  CHECK(refused.ask() == k_local);
  CHECK(refused.uses().off == "no");
  CHECK(refused.ask() == k_local);
  CHECK(refused.service().asked == 1);
}

// Red where an idle core takes what is not late, or two cores take one tool.
TEST_CASE("executor: an idle core races a tool that is late, and who ends first counts") {
  std::promise<void> goes_on;
  const auto released = goes_on.get_future().share();
  World world([released](const ExecutionRequest&) {
    released.wait();
    return ended_well();
  });
  world.expected_seconds = 0;
  world.idle_cores = 1;
  const auto begin = std::chrono::steady_clock::now();
  CHECK(world.ask() == std::string(k_race) + " 1");
  CHECK(std::chrono::steady_clock::now() - begin > 1900ms);
  auto answer = std::async(std::launch::async, [&] { return world.executor().answer("wait 1"); });
  CHECK(answer.wait_for(300ms) == std::future_status::timeout);
  goes_on.set_value();
  CHECK(answer.get() == k_done);
  CHECK(world.uses().won_here == 0);
}

TEST_CASE("executor: a tool that ends here first is cancelled there") {
  std::atomic<bool> was_stopped = false;
  World world([&](const ExecutionRequest& request) {
    while (!request.stop.stop_requested())
      std::this_thread::sleep_for(1ms);
    was_stopped = true;
    return ExecutionEnd{.state = State::cancelled};
  });
  world.expected_seconds = 0;
  world.idle_cores = 1;
  CHECK(world.ask() == std::string(k_race) + " 1");
  CHECK(world.executor().answer("cancel 1") == k_yes);
  CHECK(world.uses().won_here == 1);
  CHECK(world.executor().answer("wait 1") == k_local);
  for (int i = 0; i < 5000 && !was_stopped; ++i)
    std::this_thread::sleep_for(1ms);
  CHECK(was_stopped);
}

TEST_CASE("executor: who waits as the build ends is sent away") {
  World world([](const ExecutionRequest& request) {
    while (!request.stop.stop_requested())
      std::this_thread::sleep_for(1ms);
    return ExecutionEnd{.state = State::cancelled};
  });
  auto answer = std::async(std::launch::async, [&] { return world.ask(); });
  CHECK(answer.wait_for(100ms) == std::future_status::timeout);
  world.executor().stop();
  CHECK(answer.get() == k_local);
  CHECK(world.ask() == k_local);
}

TEST_CASE("executor: uses of two graphs are one build's") {
  ExecutorUses sum, later;
  sum.executed = 2;
  sum.bytes_up = 10;
  sum.edges["a.o"] = {"w1", 2};
  later.executed = 1;
  later.bytes_up = 15;  // the service counts for all
  later.off = "why";
  later.edges["b.o"] = {"w2", 1};
  sum.add(later);
  CHECK(sum.executed == 3);
  CHECK(sum.bytes_up == 15);
  CHECK(sum.off == "why");
  CHECK(sum.edges.size() == 2);
  CHECK(sum.were_any());
  CHECK_FALSE(ExecutorUses{}.were_any());
}

}  // namespace dsbuild
