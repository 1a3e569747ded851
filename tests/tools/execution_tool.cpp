// Asks a server of remote execution for many actions, as the process that runs a build does for its steps,
// but without steps, Ninja and compilers: for scripts/bench_execution.py.
//   execution_tool URL --actions=N --slots=N --bytes=N --folder=DIR [--askers=N] [--through-socket]
// Each action has one input of so many bytes, which no other has and which zstd packs about ten to one, as
// preprocessed CUDA code; its output is called <number>.ptx. The input is written to DIR and removed again;
// the time for that is taken off the CPU seconds. `askers`: threads that ask, as steps do; as many as slots.
// `through-socket`: they ask as steps of another process do, by the build's socket, so that both ends of its
// connections count. Prints one JSON object.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/compress.h"
#include "base/digest.h"
#include "base/json.h"
#include "exec/build_runner.h"
#include "remote_execution/remote_executor.h"
#include "sys/clock.h"
#include "sys/request_server.h"
#include "sys/system.h"

namespace {

using namespace dsbuild;

struct Load {
  std::string url;
  Path folder;
  size_t actions = 0, slots = 0, bytes = 0, askers = 0;
  bool uses_socket = false;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_of_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

double cpu_of_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Lines of which a text is made by chance: each costs zstd a reference, a tenth of its length.
std::vector<std::string> make_lines() {
  constexpr size_t k_lines = 512, k_length = 21;
  std::minstd_rand random(1);
  std::vector<std::string> lines(k_lines);
  for (std::string& line : lines) {
    while (line.size() < k_length)
      line += static_cast<char>(random() % 8 == 0 ? ' ' : 'a' + random() % 26);
    line += '\n';
  }
  return lines;
}

std::string make_text(size_t number, size_t bytes) {
  static const std::vector<std::string> lines = make_lines();
  std::minstd_rand random(static_cast<unsigned>(number + 1));
  std::string text = "// action " + std::to_string(number) + "\n";
  text.reserve(bytes + lines.front().size());
  while (text.size() < bytes)
    text += lines[random() % lines.size()];
  return text;
}

size_t count_entries(const char* folder) {
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++entries;
  return entries;
}

// Looks ten times a second. Its own descriptor is one of them.
class Watch {
 public:
  Watch() : thread_([this] { work(); }) {}
  ~Watch() {
    ends_ = true;
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::atomic<size_t> most_descriptors = 0, most_threads = 0;

 private:
  void work() {
    while (!ends_) {
      most_descriptors = std::max<size_t>(most_descriptors, count_entries("/proc/self/fd"));
      most_threads = std::max<size_t>(most_threads, count_entries("/proc/self/task"));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

// A toolkit in its least form: a compiler, its library, the loader and libdevice.
RemoteTools make_tools(const Path& folder, FileSystem& files) {
  std::string parts;
  for (const char* name : {"cicc", "libc.so.6", "ld-linux-x86-64.so.2", "libdevice.10.bc"}) {
    const std::string bytes = std::string("of a load, in place of ") + name;
    (void)files.write_file(folder / name, bytes);
    parts += sha256(bytes) + " " + (folder / name).string() + "\n";
  }
  return {parts, files};
}

class Steps {
 public:
  Steps(const Load& load, FileSystem& files, std::function<std::string(const std::string&)> ask)
      : load_(load), files_(files), ask_(std::move(ask)) {}

  void run() {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < load_.askers; ++i)
      threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads)
      thread.join();
  }
  size_t failures() const { return failures_; }
  double own_cpu() const { return static_cast<double>(own_nanoseconds_) / 1e9; }

 private:
  void work() {
    for (size_t number = next_++; number < load_.actions; number = next_++) {
      const Path folder = load_.folder / std::to_string(number);
      own([&] { write_step(number, folder); });
      const bool is_done = ask_(std::string(k_execute) + " " + (folder / k_request_name).string()) == k_done;
      own([&] {
        if (!is_done || !files_.read_file(folder / k_outputs_name / output_of(number))) ++failures_;
        (void)files_.remove_all(folder);
      });
    }
  }

  static std::string output_of(size_t number) { return std::to_string(number) + ".ptx"; }

  template <class Work>
  void own(Work work) {
    const double before = cpu_of_thread();
    work();
    own_nanoseconds_ += static_cast<int64_t>((cpu_of_thread() - before) * 1e9);
  }

  // As BuildRunner::write_request() does.
  void write_step(size_t number, const Path& folder) {
    const std::string output = output_of(number);
    const Json request = {{"output", "obj/" + std::to_string(number) + ".cubin"},
                          {"argv", std::vector<std::string>{"cicc", "--arch", "90", "step.ii", "-o", output}},
                          {"environment", Json::object()},
                          {"inputs", std::vector<std::string>{"step.ii"}},
                          {"outputs", std::vector<std::string>{output}},
                          {"required", std::vector<std::string>{output}}};
    (void)files_.make_directories(folder);
    (void)files_.write_file(folder / "step.ii", make_text(number, load_.bytes));
    (void)files_.write_file(folder / k_request_name, request.dump());
  }

  const Load& load_;
  FileSystem& files_;
  const std::function<std::string(const std::string&)> ask_;
  std::atomic<size_t> next_ = 0, failures_ = 0;
  std::atomic<int64_t> own_nanoseconds_ = 0;
};

Json measure(const Load& load, ExecutionService& service, RemoteExecutor& executor, FileSystem& files) {
  std::unique_ptr<RequestServer> socket;
  std::function<std::string(const std::string&)> ask = [&](const std::string& question) {
    return executor.answer(question);
  };
  if (load.uses_socket) {
    socket = open_request_server(ask).value();
    ask = [environment = Environment{{k_execution_variable, socket->name()}}](const std::string& question) {
      return RequestClient(environment, k_execution_variable).ask(question).value_or("");
    };
  }
  Watch watch;
  Steps steps(load, files, ask);
  const double begin = steady_seconds(), cpu = cpu_of_process();
  steps.run();
  const double wall = steady_seconds() - begin, used = cpu_of_process() - cpu - steps.own_cpu();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const ExecutorUses uses = executor.uses();
  const std::string packed = compress(make_text(0, load.bytes)).value_or("");
  return {{"wall", wall},
          {"cpu_seconds", used},
          {"own_cpu_seconds", steps.own_cpu()},
          {"peak_rss_bytes", static_cast<uint64_t>(usage.ru_maxrss) * 1024},
          {"most_descriptors", static_cast<uint64_t>(watch.most_descriptors)},
          {"most_threads", static_cast<uint64_t>(watch.most_threads)},
          {"bytes_up", service.bytes_sent()},
          {"bytes_down", service.bytes_received()},
          {"packed_text_bytes", static_cast<uint64_t>(packed.size())},
          {"requests", service.calls()},
          {"executed", uses.executed},
          {"failures", static_cast<uint64_t>(steps.failures())},
          {"off", uses.off}};
}

size_t number_of(const std::map<std::string, std::string>& options, const std::string& name,
                 size_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : std::stoul(found->second);
}

Load read_load(const std::vector<std::string>& words) {
  std::map<std::string, std::string> options;
  Load load;
  for (const std::string& word : words) {
    const size_t end = word.find('=');
    if (word.starts_with("--"))
      options[word.substr(2, end - 2)] = end == std::string::npos ? "" : word.substr(end + 1);
    else
      load.url = word;
  }
  load.folder = options.at("folder");
  load.actions = number_of(options, "actions", 100);
  load.slots = number_of(options, "slots", 8);
  load.bytes = number_of(options, "bytes", 1'000'000);
  load.askers = number_of(options, "askers", load.slots);
  load.uses_socket = options.contains("through-socket");
  return load;
}

int run(const Load& load) {
  const auto files = make_real_file_system();
  HttpOptions options;
  options.url = load.url;
  options.deadline = std::chrono::milliseconds(60'000);
  options.connect_timeout = std::chrono::milliseconds(10'000);
  auto opened = open_execution_service(options, load.slots, *files);
  if (!opened) {
    std::cout << opened.error().what << "\n";
    return 1;
  }
  const std::shared_ptr<ExecutionService> service = std::move(*opened);
  ExecutorOptions of_executor;
  of_executor.slots = load.slots;
  of_executor.idle_cores_help = false;
  const BuildView build{[](const std::string&) { return 60.0; }, [] { return size_t{0}; },
                        [] { return false; }};
  RemoteExecutor executor(service, {make_tools(load.folder, *files)}, of_executor, build, *files);
  std::cout << measure(load, *service, executor, *files).dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(read_load({argv + 1, argv + argc}));
}
