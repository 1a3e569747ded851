#include "remote_execution/execution_service.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "base/digest.h"
#include "remote/reapi_cas.h"

namespace dsbuild {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using BlobState = RemoteAnswer::State;

constexpr const char* k_execution = "build.bazel.remote.execution.v2.Execution/";
constexpr const char* k_operations = "google.longrunning.Operations/";
constexpr int k_most_executions = 3;  // of one action
constexpr int k_most_waits = 20;      // for one execution, after streams that ended early
// A server tells of an operation at once, whenever that runs.
constexpr milliseconds k_first_word{10'000};
constexpr milliseconds k_first_pause{200}, k_longest_pause{5'000};
constexpr milliseconds k_cancel_deadline{1'000};

bool is_refusal(GrpcCode code) {
  return code == GrpcCode::unimplemented || code == GrpcCode::permission_denied ||
         code == GrpcCode::unauthenticated;
}

// Missing inputs: by the specification FAILED_PRECONDITION; BuildGrid and others say INTERNAL or NOT_FOUND.
bool may_lack_inputs(GrpcCode code) {
  return code == GrpcCode::failed_precondition || code == GrpcCode::internal || code == GrpcCode::not_found;
}

bool may_pass(GrpcCode code) {
  return code == GrpcCode::unavailable || code == GrpcCode::aborted || code == GrpcCode::resource_exhausted ||
         code == GrpcCode::cancelled || code == GrpcCode::unknown;
}

// On a long line four round trips of files take a fourth of a tool's time.
size_t most_uploads(size_t slots) {
  constexpr size_t k_least = 64;
  return std::max(k_least, slots / 4);
}

// Of how many actions inputs are on their way at once. (gcc 10 has no std::counting_semaphore.)
class UploadPlaces {
 public:
  explicit UploadPlaces(size_t free) : free_(free) {}

  void take() {
    std::unique_lock lock(mutex_);
    is_free_.wait(lock, [this] { return free_ > 0; });
    --free_;
  }
  void give_back() {
    const std::lock_guard lock(mutex_);
    ++free_;
    is_free_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable is_free_;
  size_t free_;
};

class UploadTurn {
 public:
  explicit UploadTurn(UploadPlaces& places) : places_(places) { places_.take(); }
  ~UploadTurn() { places_.give_back(); }
  UploadTurn(const UploadTurn&) = delete;
  UploadTurn& operator=(const UploadTurn&) = delete;

 private:
  UploadPlaces& places_;
};

// What a stream has said so far. Another thread fills it.
class Listener {
 public:
  explicit Listener(const std::function<void(ReapiStage)>& on_stage) : on_stage_(on_stage) {}

  void hear(const std::string& message) {
    auto operation = parse_operation(message);
    if (!operation) return;
    if (on_stage_) on_stage_(operation->stage);
    const std::lock_guard lock(mutex_);
    if (operation->name.empty()) operation->name = last_.name;
    last_ = std::move(*operation);
  }
  ReapiOperation last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  const std::function<void(ReapiStage)>& on_stage_;
  mutable std::mutex mutex_;
  ReapiOperation last_;
};

class ReapiExecution : public ExecutionService {
 public:
  // `cas`: of the server. `streams`: for calls that take as long as the tools.
  ReapiExecution(std::unique_ptr<ReapiCas> cas, std::unique_ptr<ReapiCas> streams, const FileReader& files,
                 size_t most_uploads)
      : cas_(std::move(cas)), streams_(std::move(streams)), files_(files), uploads_(most_uploads) {}

  ExecutionEnd execute(const ExecutionRequest& request) override;
  uint64_t bytes_sent() const override { return cas_->bytes_sent(); }
  uint64_t bytes_received() const override { return cas_->bytes_received(); }
  uint64_t calls() const override { return cas_->channel().calls() + streams_->channel().calls(); }

 private:
  class Run;

  const std::unique_ptr<ReapiCas> cas_, streams_;
  const FileReader& files_;
  UploadPlaces uploads_;

  std::mutex mutex_;             // of what follows
  std::set<std::string> there_;  // digests of tools that the server has
};

class ReapiExecution::Run {
 public:
  Run(ReapiExecution& service, const ExecutionRequest& request)
      : service_(service),
        request_(request),
        end_(steady_clock::now() + request.deadline),
        lookup_(request.lookup) {}

  ExecutionEnd run();

 private:
  enum class Next { ended, again };

  std::optional<std::string> read_inputs();
  void make_action();
  bool send();
  bool upload_tools();
  bool put(const std::vector<TreeBlob>& blobs);
  bool send_file(const TreeBlob& blob, BlobAnswers& answers);
  Next execute();
  ReapiOperation follow();
  GrpcReply call(const std::string& method, const std::string& message, Listener& listener) const;
  Next judge(const ReapiOperation& operation);
  Next judge_trouble(const ReapiOperation& operation);
  Next take(const ReapiOperation& operation);
  Next give_up_or_skip_cache(const ReapiOperation& operation, std::string why);
  bool fetch(const ReapiResult& result);
  void cancel_operation(const std::string& name) const;
  bool pause(milliseconds asked) const;
  milliseconds rest() const;
  Next fail(std::string why, ExecutionEnd::State state = ExecutionEnd::State::failed);

  ReapiExecution& service_;
  const ExecutionRequest& request_;
  const steady_clock::time_point end_;
  std::vector<TreeBlob> blobs_;  // but for the tools
  ReapiDigest action_;
  CacheLookup lookup_;
  bool uploads_all_ = false;
  int executions_ = 0;
  ExecutionEnd result_;
};

ExecutionEnd ReapiExecution::Run::run() {
  const ReapiServer& server = service_.cas_->server();
  if (server.state == BlobState::failed)
    fail(server.why);
  else if (server.state != BlobState::done || !server.executes_nothing.empty())
    fail(server.state == BlobState::done ? server.executes_nothing : server.why,
         ExecutionEnd::State::refused);
  else
    while (execute() == Next::again) {
    }
  return std::move(result_);
}

std::optional<std::string> ReapiExecution::Run::read_inputs() {
  for (const auto& [name, path] : request_.inputs) {
    auto bytes = service_.files_.read_file(path);
    if (!bytes) return bytes.error().where + ": " + bytes.error().what;
    ReapiDigest digest = digest_of(*bytes);
    blobs_.push_back({std::move(digest), std::move(*bytes)});
  }
  return std::nullopt;
}

void ReapiExecution::Run::make_action() {
  std::map<std::string, ReapiDigest> work;
  auto blob = blobs_.begin();
  for (const auto& [name, path] : request_.inputs)
    work[name] = (blob++)->digest;
  const auto tools = request_.tools ? std::optional(request_.tools->root()) : std::nullopt;
  const ReapiDigest root = input_root(tools, work, blobs_);
  ReapiCommand command = request_.command;
  command.working_directory = k_work_folder;
  command.names_output_files = !service_.cas_->server().takes_output_paths;
  std::string command_message = render_command(command);
  const ReapiDigest command_digest = digest_of(command_message);
  blobs_.push_back({command_digest, std::move(command_message)});
  std::string action = render_action(command_digest, root, command.platform, request_.salt);
  action_ = digest_of(action);
  blobs_.push_back({action_, std::move(action)});
}

// What the server lacks of them, which it is asked about once. Files go one at a time, for a compiler is
// large.
bool ReapiExecution::Run::put(const std::vector<TreeBlob>& blobs) {
  BlobAnswers answers;
  std::vector<const TreeBlob*> wanted;
  ReapiCas::Digests digests;
  for (const TreeBlob& blob : blobs) {
    if (!answers.ask(blob.digest.hash)) continue;
    wanted.push_back(&blob);
    digests.push_back(blob.digest);
  }
  service_.cas_->find(digests, answers);
  ReapiCas::Blobs in_memory;
  for (const TreeBlob* blob : wanted) {
    if (answers.state(blob->digest.hash) != BlobState::absent) continue;
    if (blob->file.empty())
      in_memory.push_back({blob->digest, blob->bytes});
    else if (!send_file(*blob, answers))
      return false;
  }
  service_.cas_->send(in_memory, answers, ReapiCas::Packing::zstd);
  for (const ReapiDigest& digest : digests) {
    const RemoteAnswer answer = answers.take(digest.hash);
    if (answer.state == BlobState::done) continue;
    fail(answer.why,
         answer.state == BlobState::refused ? ExecutionEnd::State::refused : ExecutionEnd::State::failed);
    return false;
  }
  return true;
}

bool ReapiExecution::Run::send_file(const TreeBlob& blob, BlobAnswers& answers) {
  const auto bytes = service_.files_.read_file(blob.file);
  if (!bytes || digest_of(*bytes) != blob.digest) {
    fail(blob.file.string() + " has changed since the build began");
    return false;
  }
  service_.cas_->send(ReapiCas::Blobs{{blob.digest, *bytes}}, answers, ReapiCas::Packing::zstd);
  return true;
}

// Asked about once for all actions of a build. Who comes meanwhile waits.
bool ReapiExecution::Run::upload_tools() {
  if (!request_.tools) return true;
  const std::lock_guard lock(service_.mutex_);
  if (!uploads_all_ && service_.there_.contains(request_.tools->root().hash)) return true;
  if (!put(request_.tools->blobs())) return false;
  service_.there_.insert(request_.tools->root().hash);
  return true;
}

bool ReapiExecution::Run::send() {
  const UploadTurn turn(service_.uploads_);
  if (auto why = read_inputs()) {
    fail(std::move(*why));
    return false;
  }
  make_action();
  const bool is_sent = upload_tools() && put(blobs_);
  blobs_.clear();
  return is_sent;
}

ReapiExecution::Run::Next ReapiExecution::Run::execute() {
  if (!send()) return Next::ended;
  ++executions_;
  const ReapiOperation operation = follow();
  if (request_.stop.stop_requested()) {
    cancel_operation(operation.name);
    return fail("the call was cancelled", ExecutionEnd::State::cancelled);
  }
  return judge(operation);
}

GrpcReply ReapiExecution::Run::call(const std::string& method, const std::string& message,
                                    Listener& listener) const {
  GrpcCall call = ReapiCas::unary(method, message);
  call.is_repeatable = false;
  call.deadline = rest();
  call.first_byte_deadline = k_first_word;
  call.stop = request_.stop;
  call.on_message = [&listener](const std::string& operation) { listener.hear(operation); };
  return service_.streams_->channel().call({std::move(call)}).front();
}

// Until the operation is done, or its server says nothing more. Streams end early: proxies close what is idle
// for a minute, servers start again.
ReapiOperation ReapiExecution::Run::follow() {
  Listener listener(request_.on_stage);
  GrpcReply reply = call(std::string(k_execution) + "Execute",
                         render_execute(service_.cas_->instance(), action_, lookup_), listener);
  for (int waits = 0; waits < k_most_waits; ++waits) {
    const ReapiOperation last = listener.last();
    const bool is_cut_off = reply.is_ok() || reply.code == GrpcCode::unavailable;
    if (last.is_done || last.name.empty() || !is_cut_off || rest() <= milliseconds(0)) break;
    if (!pause(waits == 0 ? milliseconds(0) : k_first_pause)) break;
    reply = call(std::string(k_execution) + "WaitExecution", render_wait_execution(last.name), listener);
  }
  ReapiOperation last = listener.last();
  if (last.is_done) return last;
  last.status = {reply.is_ok() ? GrpcCode::unavailable : reply.code,
                 reply.is_ok() ? "the stream ended before the operation did" : reply.why, reply.retry_delay};
  last.result.reset();
  return last;
}

ReapiExecution::Run::Next ReapiExecution::Run::judge(const ReapiOperation& operation) {
  if (operation.is_done && operation.status.code == GrpcCode::ok && operation.result) return take(operation);
  if (!operation.is_done) cancel_operation(operation.name);
  return judge_trouble(operation);
}

ReapiExecution::Run::Next ReapiExecution::Run::judge_trouble(const ReapiOperation& operation) {
  const ReapiStatus& status = operation.status;
  std::string why = service_.cas_->origin() + ": Execute: ";
  if (operation.is_done)
    why += status.code == GrpcCode::ok ? "the operation has no result"
                                       : describe_grpc_status(status.code, status.words);
  else
    why += status.words;
  if (is_refusal(status.code)) return fail(std::move(why), ExecutionEnd::State::refused);
  if (executions_ == k_most_executions || rest() <= milliseconds(0)) return fail(std::move(why));
  if (may_lack_inputs(status.code) && !uploads_all_) {
    uploads_all_ = true;
    return Next::again;
  }
  return may_pass(status.code) && pause(status.retry_delay) ? Next::again : fail(std::move(why));
}

ReapiExecution::Run::Next ReapiExecution::Run::take(const ReapiOperation& operation) {
  const ReapiResult& result = *operation.result;
  result_.exit_code = result.exit_code;
  result_.was_cached = operation.was_cached;
  result_.times = result.times;
  if (result.exit_code != 0 && operation.was_cached && lookup_ == CacheLookup::used)
    return give_up_or_skip_cache(operation, "a failure was cached");
  if (result.exit_code == 0)
    for (const std::string& path : request_.required)
      if (std::ranges::find(result.files, path, &ReapiOutputFile::path) == result.files.end())
        return give_up_or_skip_cache(operation, "the tool ended well, and " + path + " is not there");
  if (!fetch(result))
    return give_up_or_skip_cache(operation, "an output is gone, or is not what its digest says");
  result_.state = ExecutionEnd::State::done;
  return Next::ended;
}

// What a cached result lacks the tool can make.
ReapiExecution::Run::Next ReapiExecution::Run::give_up_or_skip_cache(const ReapiOperation& operation,
                                                                     std::string why) {
  if (!operation.was_cached || lookup_ == CacheLookup::skipped)
    return fail(service_.cas_->origin() + ": Execute: " + why);
  lookup_ = CacheLookup::skipped;
  return Next::again;
}

bool ReapiExecution::Run::fetch(const ReapiResult& result) {
  BlobAnswers answers;
  ReapiCas::Digests digests;
  const auto want = [&](const ReapiDigest& digest) {
    if (!digest.hash.empty() && digest.bytes > 0 && answers.ask(digest.hash)) digests.push_back(digest);
  };
  for (const ReapiOutputFile& file : result.files)
    if (file.contents.empty()) want(file.digest);
  want(result.out_digest);
  want(result.err_digest);
  if (!digests.empty()) service_.cas_->get(digests, answers);
  std::map<std::string, std::string> found;
  for (const ReapiDigest& digest : digests)
    found[digest.hash] = answers.take(digest.hash).bytes;
  const auto bytes_of = [&](const ReapiDigest& digest, const std::string& inlined) {
    const auto there = found.find(digest.hash);
    return there == found.end() ? inlined : there->second;
  };
  result_.outputs.clear();
  for (const ReapiOutputFile& file : result.files) {
    std::string bytes = bytes_of(file.digest, file.contents);
    if (digest_of(bytes) != file.digest) return false;
    if (std::ranges::find(request_.command.output_paths, file.path) != request_.command.output_paths.end())
      result_.outputs.push_back({file.path, std::move(bytes)});
  }
  result_.out = bytes_of(result.out_digest, result.out);
  result_.err = bytes_of(result.err_digest, result.err);
  return true;
}

// Nobody waits for it any more. Servers may not do that; then it runs to its end.
void ReapiExecution::Run::cancel_operation(const std::string& name) const {
  if (name.empty()) return;
  GrpcCall call =
      ReapiCas::unary(std::string(k_operations) + "CancelOperation", render_cancel_operation(name));
  call.is_repeatable = false;
  call.deadline = k_cancel_deadline;
  (void)service_.cas_->channel().call({std::move(call)});
}

// Whether there is time for another try.
bool ReapiExecution::Run::pause(milliseconds asked) const {
  const milliseconds wait = std::min(asked, k_longest_pause);
  if (wait >= rest()) return false;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, request_.stop, wait, [] { return false; });
  return !request_.stop.stop_requested();
}

milliseconds ReapiExecution::Run::rest() const {
  return std::chrono::duration_cast<milliseconds>(end_ - steady_clock::now());
}

ReapiExecution::Run::Next ReapiExecution::Run::fail(std::string why, ExecutionEnd::State state) {
  result_.state = state;
  result_.why = std::move(why);
  return Next::ended;
}

ExecutionEnd ReapiExecution::execute(const ExecutionRequest& request) {
  return Run(*this, request).run();
}

}  // namespace

Result<std::unique_ptr<ExecutionService>> open_execution_service(const HttpOptions& options, size_t slots,
                                                                 const FileReader& files) {
  HttpOptions of_streams = options, of_files = options;
  of_streams.most_at_once = slots;
  of_files.most_at_once = most_uploads(slots);
  DSBUILD_TRY(cas, open_reapi_cas(std::move(of_files), files));
  DSBUILD_TRY(streams, open_reapi_cas(std::move(of_streams), files));
  return std::make_unique<ReapiExecution>(std::move(cas), std::move(streams), files, most_uploads(slots));
}

}  // namespace dsbuild
