// Decides where the hermetic tools of one build run: at the Execution service, or on this machine ("here").
// The process that runs the build has a RemoteExecutor, and the steps ask it (exec/build_runner.h). If the
// service fails, or a tool fails there, the tool runs here. So the service never makes a build fail.
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
  size_t slots = 64;            // how many tools the service runs at the same time
  bool idle_cores_help = true;  // run tools here that wait or are late there
  PlatformProperties platform = {};
  std::vector<std::string> variables = {};  // variables of this machine's tools that the service's get, too
};

// Functions by which the executor learns about the build. Many threads may call them.
struct BuildView {
  std::function<double(const std::string& output)> expected_seconds;  // of an edge on this machine
  std::function<size_t()> idle_cores;  // of this machine, if no step waits for one
  std::function<bool()> is_starved;    // Ninja has started every edge that can start
};

// For one edge, for the user.
struct RemoteToolUse {
  std::string worker;
  int tools = 0;  // that ran there
  bool operator==(const RemoteToolUse&) const = default;
};

struct ExecutorUses {
  uint64_t executed = 0;    // tools that ran there
  uint64_t cached = 0;      // those of them whose results the server had cached
  uint64_t failed = 0;      // tools that ran here after the service had failed
  uint64_t taken_back = 0;  // tools that waited there while a core was idle here
  uint64_t won_here = 0;    // tools that ran on both sides and ended here first
  uint64_t bytes_up = 0, bytes_down = 0, requests = 0;
  double worked_seconds = 0;  // of execution there
  std::set<std::string> workers;
  std::set<std::string> asked;                 // outputs of edges whose tools the service was asked to run
  std::string off;                             // why the build stopped using the service; "": it did not
  std::map<std::string, RemoteToolUse> edges;  // by output

  bool were_any() const { return executed + failed + taken_back + won_here > 0 || !off.empty(); }
  // Adds the uses of a later graph with the same service.
  void add(const ExecutorUses& later);
};

class RemoteExecutor {
 public:
  // `tools`: sets of programs; the first set that has a program counts.
  RemoteExecutor(std::shared_ptr<ExecutionService> service, std::vector<RemoteTools> tools,
                 ExecutorOptions options, BuildView build, FileSystem& files);
  RemoteExecutor(const RemoteExecutor&) = delete;
  RemoteExecutor& operator=(const RemoteExecutor&) = delete;
  ~RemoteExecutor();

  // Answers a step's question (exec/build_runner.h). May take as long as a tool.
  std::string answer(const std::string& question);
  ExecutorUses uses() const;
  // For the end of the build: ends all waits.
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
