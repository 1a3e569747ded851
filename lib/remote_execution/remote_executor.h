// Where the hermetic tools of one build run: at the Execution service, or here. The process that runs the
// build has this, and the steps ask it (exec/build_runner.h). A tool that the service does not run well runs
// here, so a build never fails by it.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "remote_execution/execution_service.h"
#include "sys/system.h"

namespace dsbuild {

struct ExecutorOptions {
  size_t slots = 64;            // tools at the service at once
  bool idle_cores_help = true;  // here, with what waits or is late there
  PlatformProperties platform = {};
  std::vector<std::string> variables = {};  // of the tools here, that they get there too
};

// What the executor asks about the build. Any of them may be called by many threads.
struct BuildView {
  std::function<double(const std::string& output)> expected_seconds;  // of an edge on this machine
  std::function<size_t()> idle_cores;  // of this machine, while nobody waits for one
  std::function<bool()> is_starved;    // Ninja has started all that can start
};

// Of one edge, for people.
struct RemoteToolUse {
  std::string worker;
  int tools = 0;  // that ran there
  bool operator==(const RemoteToolUse&) const = default;
};

struct ExecutorUses {
  uint64_t executed = 0;    // tools that ran there
  uint64_t cached = 0;      // of these, whose results the server had
  uint64_t failed = 0;      // tools that ran here after the service had failed
  uint64_t taken_back = 0;  // tools that waited there while a core was idle here
  uint64_t won_here = 0;    // tools that ran on both sides and ended here first
  uint64_t bytes_up = 0, bytes_down = 0, requests = 0;
  double worked_seconds = 0;  // of tools there
  std::set<std::string> workers;
  std::set<std::string> asked;                 // outputs of edges with tools that were to run there
  std::string off;                             // why the rest of the build ran here; "": it did not
  std::map<std::string, RemoteToolUse> edges;  // by output

  bool were_any() const { return executed + failed + taken_back + won_here > 0 || !off.empty(); }
  // Of a graph that ran after this one, with the same service.
  void add(const ExecutorUses& later);
};

class RemoteExecutor {
 public:
  // `tools`: sets of programs, the first that has one counts.
  RemoteExecutor(std::shared_ptr<ExecutionService> service, std::vector<RemoteTools> tools,
                 ExecutorOptions options, BuildView build, FileSystem& files);
  RemoteExecutor(const RemoteExecutor&) = delete;
  RemoteExecutor& operator=(const RemoteExecutor&) = delete;
  ~RemoteExecutor();

  // Of a step, as exec/build_runner.h has it. Takes as long as a tool.
  std::string answer(const std::string& question);
  ExecutorUses uses() const;
  // The build is over: who waits is sent away.
  void stop();

 private:
  struct Job;
  using JobPointer = std::shared_ptr<Job>;

  std::string execute(const std::string& file);
  std::string wait_for(const JobPointer& job, std::unique_lock<std::mutex>& lock);
  std::string end(const JobPointer& job);
  void wake_all();
  void wake_next();
  void start(const JobPointer& job);
  void run(const JobPointer& job);
  bool is_to_be_taken_back(const Job& job);
  bool is_to_be_raced(const Job& job);
  size_t idle_cores();
  void drop(const JobPointer& job);
  void note_failure(const std::string& why);
  std::optional<ExecutionEnd> prove_worker_tools(const std::stop_token& stop);
  std::optional<ExecutionRequest> request_of(const std::string& file, std::string& output,
                                             Path& folder) const;
  bool write_answer(const Job& job) const;

  const std::shared_ptr<ExecutionService> service_;
  std::vector<RemoteTools> tools_;
  const ExecutorOptions options_;
  const BuildView build_;
  FileSystem& files_;

  mutable std::mutex mutex_;  // of what follows
  std::map<uint64_t, JobPointer> jobs_;
  uint64_t last_job_ = 0;
  size_t running_ = 0;  // at the service
  int failures_in_a_row_ = 0;
  bool ends_ = false;
  std::list<std::chrono::steady_clock::time_point> handed_;  // when idle cores were given work
  ExecutorUses uses_;
  std::list<std::pair<JobPointer, std::thread>> threads_;

  std::mutex proof_mutex_;            // of what follows
  std::optional<std::string> proof_;  // why the workers' tools are not ours; "": they are
};

}  // namespace dsbuild
