// The GPUs of a process that has initialised CUDA. The driver is tests/fakes/libcuda.cpp.
#include "initialised_cuda.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include "fake_dsbuild.h"

using namespace dsbuild;

namespace {

// The driver, opened as a program that uses CUDA has it.
class Driver {
 public:
  Driver() : handle_(::dlopen(DSBUILD_FAKE_CUDA, RTLD_NOW)) { REQUIRE(handle_ != nullptr); }
  Driver(const Driver&) = delete;
  ~Driver() { ::dlclose(handle_); }
  void initialise() { reinterpret_cast<int (*)(unsigned)>(::dlsym(handle_, "cuInit"))(0); }

 private:
  void* handle_;
};

bool is_loaded() {
  return bytes_of("/proc/self/maps").find("libcuda.so.1") != std::string::npos;
}

}  // namespace

TEST_CASE("CUDA is neither loaded nor initialised to be asked for GPUs") {
  ::unsetenv("FAKE_CUDA_WAS_LOADED");
  CHECK(gpus_of_initialised_cuda().empty());
  CHECK(::getenv("FAKE_CUDA_WAS_LOADED") == nullptr);
  const Driver driver;
  CHECK(::getenv("FAKE_CUDA_WAS_LOADED") != nullptr);
  CHECK(gpus_of_initialised_cuda().empty());
}

TEST_CASE("Where CUDA is initialised, the program is told the GPUs that it shows, each kind once") {
  const FakeDsbuild program("cat answer");
  {
    Driver driver;
    driver.initialise();
    CHECK(gpus_of_initialised_cuda() == "9.0,8.0,12.0");
    CHECK(load("gamma", program.options).exit == 0);
  }
  CHECK_FALSE(is_loaded());  // nothing of ours holds it
  CHECK(program.read("starts") == "load gamma --json --gpu 9.0,8.0,12.0\n");
}

TEST_CASE("GPUs that the caller names go before those that CUDA shows") {
  FakeDsbuild program("cat answer");
  Driver driver;
  driver.initialise();
  program.options.gpus = "7.5";
  CHECK(load("gamma", program.options).exit == 0);
  CHECK(program.read("starts") == "load gamma --json --gpu 7.5\n");
}

TEST_CASE("In a child that is forked behind CUDA's start the program asks for itself") {
  const FakeDsbuild program("cat answer");
  Driver driver;
  driver.initialise();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(dsbuild_load_op("gamma", &program.options, nullptr, nullptr));
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(program.read("starts") == "load gamma --json\n");
}
