#include "remote_execution/remote_executor.h"

#include <algorithm>
#include <cmath>

#include "base/base64.h"
#include "base/json.h"
#include "exec/build_runner.h"
#include "sys/clock.h"
#include "sys/quiet_thread.h"

namespace dsbuild {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int k_most_failures = 3;              // in a row
constexpr double k_longest_queue = 30;          // seconds, before an idle core here takes a tool
constexpr double k_longest_queue_of_all = 600;  // seconds: autoscalers take minutes
constexpr double k_least_deadline = 20;         // seconds, from when a worker has it
constexpr double k_deadline_factor = 5;         // of what it is expected to take here
constexpr milliseconds k_tick{250};
// How long a core counts as busy that was given work: the step has to come to the gate first.
constexpr std::chrono::seconds k_handing{2};

std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const Json* list = object.find(name);
  for (const Json& item : list && list->items() ? *list->items() : std::vector<Json>{})
    if (item.text()) texts.push_back(*item.text());
  return texts;
}

double span(double from, double to) {
  return from > 0 && to > from ? to - from : 0;
}

}  // namespace

void ExecutorUses::add(const ExecutorUses& later) {
  executed += later.executed;
  cached += later.cached;
  failed += later.failed;
  taken_back += later.taken_back;
  won_here += later.won_here;
  worked_seconds += later.worked_seconds;
  // The service counts for all.
  bytes_up = std::max(bytes_up, later.bytes_up);
  bytes_down = std::max(bytes_down, later.bytes_down);
  requests = std::max(requests, later.requests);
  workers.insert(later.workers.begin(), later.workers.end());
  asked.insert(later.asked.begin(), later.asked.end());
  edges.insert(later.edges.begin(), later.edges.end());
  if (off.empty()) off = later.off;
}

struct RemoteExecutor::Job {
  uint64_t number = 0;
  std::string output;  // of its edge
  Path folder;
  ExecutionRequest request;
  std::stop_source stop;
  double asked = steady_seconds();
  std::optional<double> began{};            // it has a slot
  std::optional<double> executing_since{};  // a worker has it
  double most_seconds = 0;                  // that the worker may take
  bool is_raced = false;
  bool is_over = false;
  ExecutionEnd end{};
  // Its own: with one for all, each that ends would wake all that wait.
  std::condition_variable changed{};
};

RemoteExecutor::RemoteExecutor(std::shared_ptr<ExecutionService> service, std::vector<RemoteTools> tools,
                               ExecutorOptions options, BuildView build, FileSystem& files)
    : service_(std::move(service)),
      tools_(std::move(tools)),
      options_(std::move(options)),
      build_(std::move(build)),
      files_(files) {
  std::erase_if(tools_, [&](const RemoteTools& set) {
    if (uses_.off.empty()) uses_.off = set.why_none();
    return !set.why_none().empty();
  });
  if (!tools_.empty()) uses_.off.clear();
}

RemoteExecutor::~RemoteExecutor() {
  stop();
  for (auto& [job, thread] : threads_)
    thread.join();
}

void RemoteExecutor::stop() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  for (const auto& [number, job] : jobs_)
    job->stop.request_stop();
  wake_all();
}

void RemoteExecutor::wake_all() {
  for (const auto& [number, job] : jobs_)
    job->changed.notify_all();
}

// It has waited the longest for a slot.
void RemoteExecutor::wake_next() {
  const auto next = std::ranges::find_if(jobs_, [](const auto& job) { return !job.second->began; });
  if (next != jobs_.end()) next->second->changed.notify_all();
}

std::string RemoteExecutor::answer(const std::string& question) {
  const size_t space = question.find(' ');
  const std::string verb = question.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : question.substr(space + 1);
  if (verb == k_execute) return execute(rest);
  if (verb == k_wrong) {
    const std::lock_guard lock(mutex_);
    note_failure("a tool failed there, and not here");
    return k_yes;
  }
  std::unique_lock lock(mutex_);
  const auto found = jobs_.find(whole_number<uint64_t>(rest).value_or(0));
  if (found == jobs_.end()) return k_local;
  const JobPointer job = found->second;
  if (verb == k_wait) return wait_for(job, lock);
  if (!job->is_over) ++uses_.won_here;
  drop(job);
  return k_yes;
}

std::string RemoteExecutor::execute(const std::string& file) {
  auto job = std::make_shared<Job>();
  auto request = request_of(file, job->output, job->folder);
  std::unique_lock lock(mutex_);
  if (!request || !uses_.off.empty() || ends_) return k_local;
  uses_.asked.insert(job->output);
  job->request = std::move(*request);
  job->most_seconds = std::max(k_least_deadline, k_deadline_factor * build_.expected_seconds(job->output));
  job->request.deadline = milliseconds(std::llround(1000 * (k_longest_queue_of_all + job->most_seconds)));
  job->request.stop = job->stop.get_token();
  job->request.on_stage = [this, pointer = job.get()](ReapiStage stage) {
    const std::lock_guard guard(mutex_);
    if (stage == ReapiStage::executing && !pointer->executing_since)
      pointer->executing_since = steady_seconds();
  };
  job->number = ++last_job_;
  jobs_[job->number] = job;
  return wait_for(job, lock);
}

std::string RemoteExecutor::wait_for(const JobPointer& job, std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (job->is_over) return end(job);
    if (job->stop.stop_requested() || (!job->began && !uses_.off.empty()) || ends_) {
      drop(job);
      return k_local;
    }
    if (!job->began && running_ < options_.slots) start(job);
    if (job->executing_since && steady_seconds() - *job->executing_since > job->most_seconds) {
      note_failure("a tool has run there for " + std::to_string(std::lround(job->most_seconds)) + " s");
      ++uses_.failed;
      drop(job);
      return k_local;
    }
    if (is_to_be_taken_back(*job)) {
      handed_.push_back(steady_clock::now());
      ++uses_.taken_back;
      drop(job);
      return k_local;
    }
    if (is_to_be_raced(*job)) {
      handed_.push_back(steady_clock::now());
      job->is_raced = true;
      return std::string(k_race) + " " + std::to_string(job->number);
    }
    job->changed.wait_for(lock, k_tick);
  }
}

void RemoteExecutor::start(const JobPointer& job) {
  std::erase_if(threads_, [](auto& other) {
    if (!other.first->is_over) return false;
    other.second.join();
    return true;
  });
  job->began = steady_seconds();
  ++running_;
  threads_.emplace_back(job, std::thread([this, job] { run(job); }));
}

void RemoteExecutor::run(const JobPointer& job) {
  block_signals_in_this_thread();
  auto refusal = prove_worker_tools(job->request.stop);
  ExecutionEnd end = refusal ? std::move(*refusal) : service_->execute(job->request);
  const std::lock_guard lock(mutex_);
  --running_;
  job->end = std::move(end);
  job->is_over = true;
  job->changed.notify_all();
  wake_next();
}

// The caller holds the lock, as for all that follows.
std::string RemoteExecutor::end(const JobPointer& job) {
  using State = ExecutionEnd::State;
  const ExecutionEnd& end = job->end;
  jobs_.erase(job->number);
  if (end.state == State::refused && uses_.off.empty()) uses_.off = end.why;
  if (end.state == State::failed) note_failure(end.why);
  if (end.state != State::done) {
    if (end.state != State::cancelled) ++uses_.failed;
    return k_local;
  }
  if (!write_answer(*job)) return k_local;
  if (end.exit_code == 0) failures_in_a_row_ = 0;
  ++uses_.executed;
  uses_.cached += end.was_cached ? 1 : 0;
  if (!end.times.worker.empty()) uses_.workers.insert(end.times.worker);
  const double worked = end.was_cached ? 0 : span(end.times.execution_started, end.times.execution_ended);
  uses_.worked_seconds += worked;
  RemoteToolUse& use = uses_.edges[job->output];
  use.worker = end.times.worker;
  ++use.tools;
  return k_done;
}

void RemoteExecutor::note_failure(const std::string& why) {
  if (++failures_in_a_row_ >= k_most_failures && uses_.off.empty())
    uses_.off = std::to_string(k_most_failures) + " failures in a row, the last: " + why;
}

void RemoteExecutor::drop(const JobPointer& job) {
  job->stop.request_stop();
  jobs_.erase(job->number);
}

size_t RemoteExecutor::idle_cores() {
  if (!options_.idle_cores_help) return 0;
  const auto now = steady_clock::now();
  std::erase_if(handed_, [&](auto given) { return now - given > k_handing; });
  const size_t idle = build_.idle_cores();
  return idle - std::min(idle, handed_.size());
}

// What autoscalers take minutes for an idle core does meanwhile.
bool RemoteExecutor::is_to_be_taken_back(const Job& job) {
  return !job.executing_since && !job.is_raced && steady_seconds() - job.asked >= k_longest_queue &&
         idle_cores() > 0;
}

// At the end of a build, when nothing else can start: of those that have been there for longer than they
// would take here, the first.
bool RemoteExecutor::is_to_be_raced(const Job& job) {
  constexpr double k_least_wait = 2;  // seconds
  const double is_late = std::max(k_least_wait, build_.expected_seconds(job.output));
  if (job.is_raced || steady_seconds() - job.asked < is_late || !build_.is_starved() || idle_cores() == 0)
    return false;
  return std::ranges::none_of(jobs_, [&](const auto& other) {
    return !other.second->is_raced && !other.second->is_over && other.second->asked < job.asked;
  });
}

std::optional<ExecutionRequest> RemoteExecutor::request_of(const std::string& file, std::string& output,
                                                           Path& folder) const {
  const auto text = files_.read_file(file);
  const auto json = text ? Json::parse(*text) : std::nullopt;
  const Json* named = json ? json->find("output") : nullptr;
  const std::vector<std::string> argv = json ? texts_of(*json, "argv") : std::vector<std::string>{};
  if (!named || !named->text() || argv.empty()) return std::nullopt;
  const auto tools = std::ranges::find_if(
      tools_, [&](const RemoteTools& one) { return one.has_program(argv.front(), files_); });
  if (tools == tools_.end()) return std::nullopt;
  output = *named->text();
  folder = Path(file).parent_path();
  ExecutionRequest request;
  request.command.platform = options_.platform;
  request.command.output_paths = texts_of(*json, "outputs");
  request.required = texts_of(*json, "required");
  const std::vector<std::string> inputs = texts_of(*json, "inputs");
  for (const std::string& input : inputs)
    request.inputs[input] = folder / input;
  if (const Json* handed = json->find("environment"))
    for (const std::string& name : options_.variables)
      if (const Json* value = handed->find(name); value && value->text())
        request.command.environment[name] = *value->text();
  request.command.arguments = tools->remote_words(argv);
  for (const auto& [name, value] : tools->remote_environment())
    request.command.environment[name] = value;
  if (tools->are_at_worker())
    request.salt = tools->root().hash;
  else
    request.tools = &*tools;
  return request;
}

bool RemoteExecutor::write_answer(const Job& job) const {
  const ExecutionEnd& end = job.end;
  const Path outputs = job.folder / k_outputs_name;
  if (!files_.make_directories(outputs)) return false;
  for (const ExecutionOutput& output : end.outputs)
    if (!files_.write_file(outputs / output.name, output.bytes)) return false;
  const double seconds = span(end.times.execution_started, end.times.execution_ended);
  const Json answer = {{"exit_code", end.exit_code},
                       {"out", base64(end.out)},
                       {"err", base64(end.err)},
                       {"milliseconds", static_cast<uint64_t>(std::llround(1000 * seconds))}};
  return files_.write_file(job.folder / k_answer_name, answer.dump()).has_value();
}

// A worker's tools are ours if they have the same bytes. Asked once, of the worker that takes the question.
std::optional<ExecutionEnd> RemoteExecutor::prove_worker_tools(const std::stop_token& stop) {
  using State = ExecutionEnd::State;
  const auto tools = std::ranges::find_if(tools_, &RemoteTools::are_at_worker);
  if (tools == tools_.end()) return std::nullopt;
  const std::lock_guard lock(proof_mutex_);
  if (proof_) return proof_->empty() ? std::nullopt : std::optional(ExecutionEnd{State::refused, *proof_});
  std::map<std::string, std::string> expected = tools->programs_at_worker();
  ExecutionRequest request;
  request.lookup = CacheLookup::skipped;
  request.stop = stop;
  request.command.platform = options_.platform;
  request.command.arguments = {"/usr/bin/sha256sum"};
  for (const auto& [path, digest] : expected)
    request.command.arguments.push_back(path);
  const ExecutionEnd end = service_->execute(request);
  if (end.state != State::done) return end;
  proof_ = "";
  for (const std::string& line : split_lines(end.out)) {
    const size_t space = line.find("  ");
    if (space == std::string::npos) continue;
    const auto found = expected.find(line.substr(space + 2));
    if (found != expected.end() && found->second == line.substr(0, space)) expected.erase(found);
  }
  if (!expected.empty())
    proof_ = "the worker's " + expected.begin()->first + " is not there, or is not this machine's";
  return proof_->empty() ? std::nullopt : std::optional(ExecutionEnd{State::refused, *proof_});
}

ExecutorUses RemoteExecutor::uses() const {
  const std::lock_guard lock(mutex_);
  ExecutorUses uses = uses_;
  uses.requests = service_->calls();
  uses.bytes_up = service_->bytes_sent();
  uses.bytes_down = service_->bytes_received();
  return uses;
}

}  // namespace dsbuild
