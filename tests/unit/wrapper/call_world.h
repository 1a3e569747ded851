// Calls of `dsbuild nvcc` on a real disk, with a toolkit that is made up (tests/fakes/toolkit/tools) and this
// machine's g++. The parts that a call starts as `dsbuild action …` run in this process; every tool is
// counted.
#pragma once

#include <mutex>

#include "exec/local_runner.h"
#include "fakes/fake_compilers.h"
#include "kinds/run_action.h"
#include "support/temp_folder.h"
#include "wrapper/cached_compile.h"

namespace dsbuild {

// Starts what it is asked for, but dsbuild's own actions; tells which tools that were.
class CountingRunner : public ProcessRunner {
 public:
  CountingRunner(FileSystem& files, Path program) : files_(files), program_(std::move(program)) {}

  std::map<std::string, int> starts;                                           // by FakeCompilers::name_of
  std::function<void(const std::string&)> before = [](const std::string&) {};  // a tool, one at a time
  std::string failing;                                                         // a tool

  Result<ProcessResult> run(const Command& command) override {
    if (command.argv.front() == program_)  // the self-test's are in another folder
      return command.cwd.empty() ? run_action_here(command) : real_->run(by_real_program(command));
    const std::string name = FakeCompilers::name_of(command);
    {
      const std::lock_guard lock(mutex_);
      ++starts[name];
      before(name);
      if (has_argument(command.argv, "-M")) return write_depfile(command);
      if (name == failing) return ProcessResult{2, false, "", name + " does not like it\n"};
    }
    return real_->run(command);
  }
  Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>&,
                                        const std::function<void(std::string_view)>&,
                                        const std::function<bool()>&) override {
    return run(command);
  }

 private:
  // The nvcc that is made up writes none by itself.
  ProcessResult write_depfile(const Command& command) {
    const std::string text = argument(command.argv, "-MT") + " : by nvcc\n";
    const auto written = files_.write_file(argument(command.argv, "-MF"), text);
    return ProcessResult{written ? 0 : 1, false, "", ""};
  }
  static Command by_real_program(Command command) {
    command.argv.front() = DSBUILD_PROGRAM;
    return command;
  }
  Result<ProcessResult> run_action_here(const Command& command) {
    System system{files_, *this, command.env, program_};
    LocalRunner runner(*this);
    std::string said;
    const auto end = run_action({command.argv.begin() + 2, command.argv.end()}, system, runner,
                                [&](std::string_view text) { said += text; });
    return ProcessResult{end ? end->code : 1, false, "", said + (end ? "" : end.error().what)};
  }

  FileSystem& files_;
  const Path program_;
  std::unique_ptr<ProcessRunner> real_ = make_real_process_runner();
  std::mutex mutex_;
};

struct CallEnded {
  std::string error;  // its words; "" without one
  CachedCompile kept{0, CallKind::left, 0};
  std::string said;
  std::string starts;  // "cicc cpp*2 ptxas": by FakeCompilers::name_of
};

// One toolkit and what is known of it for all tests; results are forgotten by each.
class CallWorld {
 public:
  // The first finds out all about the toolkit, so that calls of tests start what they need alone.
  CallWorld() {
    static const bool has_toolkit = install();
    begin();
    static const bool is_known = has_toolkit && call().error.empty();
    if (!is_known) throw std::runtime_error("the toolkit that is made up does not work");
    begin();
  }
  void begin() {
    (void)files->remove_all(folder().path() / "cache/store");
    (void)files->remove_all(folder().path() / "ann");
    (void)files->remove_all(folder().path() / "bob");
    write("ann/a.h", "inline int header() { return 1; }\n");
    write("ann/a.cu", "#include \"a.h\"\n__global__ void k() {}\n");
    write("toolkit/include/cuda_runtime.h", "#pragma once\n");
    settings.cache_dir = folder().path() / "cache";
    settings.facts_file = settings.cache_dir / "facts.json";
    settings.local_cache.value = settings.cache_dir / "store";
    settings.jobs.value = 2;
  }

  std::unique_ptr<FileSystem> files = make_real_file_system();
  Settings settings;
  CountingRunner processes{*files, "/usr/bin/dsbuild"};
  Environment environment = {{"PATH", variable(read_environment(), "PATH")},
                             {"TMPDIR", folder().path().string()}};

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder().path() / path).parent_path());
    if (!files->write_file(folder().path() / path, text)) throw std::runtime_error("cannot write " + path);
  }
  std::string read(const std::string& path) const {
    return files->read_file(folder().path() / path).value_or("");
  }
  // The same sources as ann's.
  void copy_to_bob() const {
    for (const char* name : {"a.h", "a.cu"})
      write(std::string("bob/") + name, read(std::string("ann/") + name));
  }

  // nvcc's words, in ann's or bob's folder; the object is a.o.
  CallEnded call(const Args& more = {}, const std::string& in = "ann") {
    Args words = {"-gencode=arch=compute_80,code=sm_80", "-c", "a.cu", "-o", "a.o", "-MD", "-MF", "a.d"};
    words.insert(words.end(), more.begin(), more.end());
    auto call = read_nvcc_call(words, [](const std::string&) { return std::nullopt; });
    if (!call) throw std::runtime_error(call.error().why);
    processes.starts.clear();
    System system{*files, processes, environment, "/usr/bin/dsbuild"};
    CallEnded ended;
    const auto kept = make_or_take({*call, {home() / "bin/nvcc", words}, settings}, folder().path() / in,
                                   system, [&](std::string_view out, std::string_view err) {
                                     ended.said += std::string(out) + std::string(err);
                                   });
    ended.error = kept ? "" : kept.error().what;
    if (kept) ended.kept = *kept;
    for (const auto& [tool, times] : processes.starts)
      ended.starts +=
          (ended.starts.empty() ? "" : " ") + tool + (times == 1 ? "" : "*" + std::to_string(times));
    return ended;
  }

  static const TempFolder& folder() {
    static const TempFolder made;
    return made;
  }
  static Path home() { return folder().path() / "toolkit"; }

  // Other bytes in each entry of the cache.
  void damage_cache() const {
    for (const auto& item : std::filesystem::recursive_directory_iterator(settings.local_cache.value))
      if (item.path().filename().string().size() == 62) std::ofstream(item.path(), std::ios::app) << "x";
  }

 private:
  static bool install() {
    const Path answers = Path(DSBUILD_TESTS_DIR) / "unit/toolkit/data/cuda-13.0";
    std::filesystem::create_directories(home() / "bin");
    std::filesystem::create_directories(home() / "include/crt");
    std::filesystem::create_directories(home() / "lib64");
    for (const char* program : {"nvcc", "cudafe++", "cicc", "ptxas", "fatbinary"})
      std::filesystem::copy_file(DSBUILD_FAKE_TOOLS, home() / "bin" / program);
    for (const char* answer : {"help.txt", "version.txt", "include/crt/host_config.h"})
      std::filesystem::copy_file(answers / answer, home() / answer);
    for (const char* header : {"cuda_runtime.h", "cuda_runtime_api.h"})
      std::ofstream(home() / "include" / header) << "#pragma once\n";
    std::ofstream(home() / "lib64/libcudart_static.a") << "!<arch>\n";
    std::ofstream(home() / "fake.json") << "{\"steps\": true}";
    return true;
  }
};

}  // namespace dsbuild
