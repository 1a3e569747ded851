// What a call answers, and how often it starts the program.
#include <dlfcn.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>

#include "fake_dsbuild.h"

using namespace dsbuild;

namespace {

// What `work` returns in a child that is forked, or 100 if it takes longer than ten seconds.
template <class Work>
int in_forked_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

std::vector<std::string> texts_of(const char* const* list) {
  std::vector<std::string> texts;
  for (; *list != nullptr; ++list)
    texts.emplace_back(*list);
  return texts;
}

}  // namespace

TEST_CASE("What the program answers is the op") {
  const FakeDsbuild program("cat answer");
  const Call call = load("small/gamma", program.options);
  REQUIRE(call.exit == 0);
  CHECK(program.read("starts") == "load small/gamma --json\n");
  CHECK(call.op->size == sizeof(dsbuild_op));
  CHECK(std::string(call.op->name) == "gamma");
  CHECK(std::string(call.op->pack) == "small");
  CHECK(std::string(call.op->path) == "/bundle/gamma.so");
  CHECK(std::string(call.op->module).empty());
  CHECK(std::string(call.op->from) == "built");
  CHECK(texts_of(call.op->archs) == std::vector<std::string>{"8.0", "9.0+PTX"});
  CHECK(texts_of(call.op->exports) == std::vector<std::string>{"gamma_run", "gamma_more"});
  CHECK(texts_of(call.op->passed_over) == std::vector<std::string>{"it has no gamma"});
  CHECK(call.op->edges_run == 4);
  REQUIRE(call.op->coverage[0] != nullptr);
  CHECK(call.op->coverage[1] == nullptr);
  const dsbuild_coverage& gpu = *call.op->coverage[0];
  CHECK(std::string(gpu.gpu) + " " + gpu.runs + " " + gpu.by == "9.0 native sm_90");
  CHECK(gpu.module == 1);
}

TEST_CASE("Options become the program's words") {
  FakeDsbuild program("cat answer");
  const std::array<const char*, 3> more = {"--arch", "9.0", nullptr};
  program.options.path = "bundle";
  program.options.gpus = "8.0,9.0";
  program.options.arguments = more.data();
  CHECK(load("gamma", program.options).exit == 0);
  CHECK(program.read("starts") == "load gamma --json --path bundle --gpu 8.0,9.0 --arch 9.0\n");
}

TEST_CASE("A second call with the same words starts nothing and gives the same object") {
  FakeDsbuild program("cat answer");
  const Call first = load("gamma", program.options);
  std::filesystem::remove(program.options.program);  // there is nothing left to start
  CHECK(load("gamma", program.options).op == first.op);
  const std::string same = "gamma", same_program = program.options.program;
  program.options.program = same_program.c_str();
  CHECK(load(same.c_str(), program.options).op == first.op);
  CHECK(program.starts() == 1);
  program.options.gpus = "9.0";
  CHECK(load("gamma", program.options).code == "no_program");
}

TEST_CASE("The words of two calls are not mixed up") {
  FakeDsbuild program("cat answer");
  const std::array<const char*, 3> two = {"a", "b", nullptr};
  const std::array<const char*, 2> one = {"ab", nullptr};
  program.options.arguments = two.data();
  const Call first = load("gamma", program.options);
  program.options.arguments = one.data();
  CHECK(load("gamma", program.options).op != first.op);
  program.options.arguments = nullptr;
  program.options.path = "ab";
  CHECK(load("gamma", program.options).op != first.op);
  CHECK(program.starts() == 3);
}

TEST_CASE("The error that the program says is the call's, and is not remembered") {
  FakeDsbuild program(
      R"(if [ -e mended ]; then cat answer; exit 0; fi
echo '{"schema": 1, "dsbuild": "0.1.0", "error": {"code": "no_gpu", "where": "--arch", "what": "a", "fix": "b"}, "warnings": []}'
exit 3)");
  const Call call = load("gamma", program.options);
  CHECK(call.exit == 3);
  CHECK(call.op == nullptr);
  CHECK(call.code + "|" + call.where + "|" + call.what + "|" + call.fix == "no_gpu|--arch|a|b");
  std::ofstream(program.folder() / "mended");
  CHECK(load("gamma", program.options).exit == 0);
  CHECK(program.starts() == 2);
}

TEST_CASE("A program that ends without an answer is an error") {
  const auto call_of = [](const std::string& script) { return load("gamma", FakeDsbuild(script).options); };
  const std::vector<std::pair<std::string, int>> rows = {
      {"exit 70", 70},
      {"exit 0", 70},
      {"echo no JSON", 70},
      {"echo '{}'", 70},
      {"echo '[1]'", 70},
      {"sed 's/: 1,/: 2,/' answer", 70},    // another schema
      {"sed 's/\"built\"/7/' answer", 70},  // a number for a text
      {"head -c 40 answer", 70},
      {"cat answer; exit 1", 70},  // what it says and how it ends do not go together
      {"kill -INT $$", 130},
      {"cat answer; kill -KILL $$", 137}};
  for (const auto& [script, exit] : rows) {
    INFO(script);
    const Call call = call_of(script);
    CHECK(call.exit == exit);
    CHECK(call.code == "program_failed");
    CHECK(call.op == nullptr);
  }
  CHECK(call_of("kill -INT $$").what ==
        "was ended by signal 2 and gave no answer that this libdsbuild reads");
  CHECK(call_of("exit 70").what == "ended with exit code 70 and gave no answer that this libdsbuild reads");
}

TEST_CASE("A program that is not there, or cannot be started, is an error") {
  dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;
  options.program = "/nowhere/dsbuild";
  CHECK(load("gamma", options).code == "no_program");
  const TempFolder folder;
  const std::string program = folder.add("dsbuild", "\x7f no program of this machine");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  options.program = program.c_str();
  const Call call = load("gamma", options);
  CHECK(call.exit == 3);
  CHECK(call.code == "cannot_start");
  CHECK(call.what == "cannot be started: Exec format error");
}

TEST_CASE("Without an option the program is DSBUILD_PROGRAM's, else that on PATH") {
  const FakeDsbuild one("cat answer", "/one.so"), other("cat answer", "/other.so");
  const auto path_in_child = [&](const char* variable, const char* path, const std::string& expected) {
    return in_forked_child([&] {
      variable == nullptr ? ::unsetenv("DSBUILD_PROGRAM") : ::setenv("DSBUILD_PROGRAM", variable, 1);
      ::setenv("PATH", path, 1);
      const dsbuild_op* op = nullptr;
      dsbuild_error* error = nullptr;
      const int exit = dsbuild_load_op("gamma", nullptr, &op, &error);
      return expected == (exit == 0 ? op->path : error->code) ? 0 : 1;
    });
  };
  const std::string path = "/nowhere::" + other.folder().string() + ":/usr/bin:/bin";
  CHECK(path_in_child(one.options.program, path.c_str(), "/one.so") == 0);
  CHECK(path_in_child("", path.c_str(), "/other.so") == 0);
  CHECK(path_in_child(nullptr, path.c_str(), "/other.so") == 0);
  CHECK(path_in_child("/nowhere/dsbuild", path.c_str(), "no_program") == 0);
  CHECK(path_in_child(nullptr, "/nowhere", "no_program") == 0);
}

TEST_CASE("Options of an older and of a newer header") {
  const FakeDsbuild program("cat answer");
  struct Newer {
    dsbuild_load_options known;
    const char* later;
  } newer = {program.options, nullptr};
  newer.known.size = sizeof newer;
  CHECK(load("gamma", newer.known).exit == 0);
  newer.later = "set";
  CHECK(load("gamma", newer.known).code == "bad_option");

  const FakeDsbuild speaker("echo to stderr, not to on_message >&2; cat answer");
  dsbuild_load_options older = speaker.options;
  bool heard = false;
  older.size = offsetof(dsbuild_load_options, on_message);  // what is behind it is no member of the caller's
  older.on_message = [](const char*, void* to) { *static_cast<bool*>(to) = true; };
  older.context = &heard;
  CHECK(load("alpha", older).exit == 0);
  CHECK_FALSE(heard);
  older.size = 0;
  CHECK(load("alpha", older).code == "bad_option");
}

TEST_CASE("No name is an error, and what the caller does not ask for may be NULL") {
  const FakeDsbuild program("cat answer");
  CHECK(load(nullptr, program.options).code == "bad_option");
  CHECK(load("", program.options).exit == 2);
  CHECK(load("--help", program.options).what == "--help is not a name of an op");
  CHECK(program.starts() == 0);
  CHECK(dsbuild_load_op("gamma", &program.options, nullptr, nullptr) == 0);
  CHECK(dsbuild_load_op("", &program.options, nullptr, nullptr) == 2);
  dsbuild_free_error(nullptr);
}

TEST_CASE("Threads that want the same op wait for one start") {
  const FakeDsbuild program("sleep 0.3; cat answer");
  std::vector<const dsbuild_op*> ops(8);
  std::vector<std::thread> threads;
  for (const dsbuild_op*& op : ops)
    threads.emplace_back([&] { dsbuild_load_op("gamma", &program.options, &op, nullptr); });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(ops.front() != nullptr);
  CHECK(std::count(ops.begin(), ops.end(), ops.front()) == 8);
  CHECK(program.starts() == 1);
}

TEST_CASE("Threads that want different ops do not wait for one another") {
  // Each program waits until the other has been started.
  const FakeDsbuild program(
      "i=0; while [ $(wc -l <starts) -lt 2 ]; do i=$((i+1)); [ $i -gt 500 ] && exit 1; sleep 0.01; done\ncat "
      "answer");
  int one = -1;
  std::thread thread([&] { one = dsbuild_load_op("one", &program.options, nullptr, nullptr); });
  const int other = dsbuild_load_op("other", &program.options, nullptr, nullptr);
  thread.join();
  CHECK(one == 0);
  CHECK(other == 0);
}

TEST_CASE("A child of fork has what its parent loaded") {
  const FakeDsbuild program("cat answer");
  const Call call = load("gamma", program.options);
  CHECK(in_forked_child([&] {
          const dsbuild_op* op = nullptr;
          return dsbuild_load_op("gamma", &program.options, &op, nullptr) == 0 && op == call.op ? 0 : 1;
        }) == 0);
  CHECK(program.starts() == 1);
}

TEST_CASE("A child that is forked while its parent loads the op loads it by itself") {
  const FakeDsbuild program("sleep 0.5; cat answer");
  std::thread thread([&] { dsbuild_load_op("gamma", &program.options, nullptr, nullptr); });
  while (program.starts() == 0)
    std::this_thread::yield();
  CHECK(in_forked_child([&] { return dsbuild_load_op("gamma", &program.options, nullptr, nullptr); }) == 0);
  thread.join();
  CHECK(program.starts() == 2);
}

TEST_CASE("open_op opens the library, once") {
  const FakeDsbuild program("cat answer", DSBUILD_FAKE_CUDA);
  void *handle = nullptr, *again = nullptr;
  const dsbuild_op* op = nullptr;
  REQUIRE(dsbuild_open_op("gamma", &program.options, &handle, &op, nullptr) == 0);
  CHECK(std::string(op->path) == DSBUILD_FAKE_CUDA);
  CHECK(::dlsym(handle, "cuInit") != nullptr);
  CHECK(dsbuild_open_op("gamma", &program.options, &again, nullptr, nullptr) == 0);
  CHECK(again == handle);
  const auto is_loaded = [] { return bytes_of("/proc/self/maps").find("libcuda.so.1") != std::string::npos; };
  CHECK(is_loaded());
  ::dlclose(handle);  // not for users: one opening is one closing
  CHECK_FALSE(is_loaded());
  CHECK(load("gamma", program.options).op == op);
  CHECK(program.starts() == 1);
}

TEST_CASE("A library that cannot be opened is an error that says what it lacks") {
  const FakeDsbuild program("cat answer", "/nowhere/gamma.so");
  void* handle = &handle;
  dsbuild_error* error = nullptr;
  CHECK(dsbuild_open_op("gamma", &program.options, &handle, nullptr, &error) == 1);
  CHECK(handle == nullptr);
  CHECK(std::string(error->code) == "cannot_open");
  CHECK(std::string(error->where) == "/nowhere/gamma.so");
  CHECK(std::strstr(error->what, "No such file") != nullptr);
  dsbuild_free_error(error);
}
