// A program dsbuild that is made up, and what of a process a load must leave alone.
#pragma once

#include <dirent.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "dsbuild.h"
#include "support/temp_folder.h"

namespace dsbuild {

// The answer of `dsbuild load --json` (lib/report/load_text.cpp), with a path that is all its own.
inline std::string answer_text(const std::string& path) {
  return R"({"schema": 1, "dsbuild": "0.1.0", "op": "gamma", "pack": "small", "path": ")" + path +
         R"(", "module": "", "from": "built", "archs": ["8.0", "9.0+PTX"], "exports": ["gamma_run", "gamma_more"],
"coverage": [{"gpu": "9.0", "runs": "native", "by": "sm_90", "module": 1}], "passed_over": ["it has no gamma"],
"edges_run": 4, "warnings": []})";
}

// A shell script in dsbuild's place. It writes a line with its arguments into `starts` each time.
class FakeDsbuild {
 public:
  explicit FakeDsbuild(const std::string& script, const std::string& path = "/bundle/gamma.so") {
    folder_.add("answer", answer_text(path));
    const auto program = folder_.add(
        "dsbuild", "#!/bin/sh\ncd " + folder_.path().string() + "\necho \"$@\" >>starts\n" + script + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    program_ = program.string();
    options.program = program_.c_str();
  }

  std::string read(const std::string& name) const { return bytes_of(folder_.path() / name); }
  int starts() const {
    const std::string lines = read("starts");
    return static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  }
  const std::filesystem::path& folder() const { return folder_.path(); }

  dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;

 private:
  TempFolder folder_;
  std::string program_;
};

// How a call went.
struct Call {
  int exit = 0;
  const dsbuild_op* op = nullptr;
  std::string code, where, what, fix;
};

inline Call load(const char* name, const dsbuild_load_options& options) {
  Call call;
  dsbuild_error* error = nullptr;
  call.exit = dsbuild_load_op(name, &options, &call.op, &error);
  REQUIRE((error != nullptr) == (call.exit != 0));
  if (error != nullptr) {
    REQUIRE(error->exit == call.exit);
    call.code = error->code, call.where = error->where, call.what = error->what, call.fix = error->fix;
  }
  dsbuild_free_error(error);
  return call;
}

// What belongs to the caller. Taken by one thread alone: the mask is its own.
struct ProcessState {
  std::vector<std::string> environment;
  std::string folder;
  std::vector<std::string> descriptors;  // with what they lead to
  std::vector<std::pair<void*, int>> handlers;
  std::vector<int> blocked;
  size_t threads = 0;
  bool operator==(const ProcessState&) const = default;
};

// SA_RESTORER: glibc sets it for whoever sets a handler.
inline constexpr int k_restorer = 0x04000000;

inline ProcessState process_state() {
  ProcessState state;
  for (char** variable = environ; *variable != nullptr; ++variable)
    state.environment.emplace_back(*variable);
  state.folder = std::filesystem::current_path();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);  // the listing's own is among them
    if (target.string().find("/fd") == std::string::npos)
      state.descriptors.push_back(entry.path().filename().string() + " " + target.string());
  }
  std::sort(state.descriptors.begin(), state.descriptors.end());
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    ::sigaction(number, nullptr, &action);
    state.handlers.emplace_back(reinterpret_cast<void*>(action.sa_handler), action.sa_flags & ~k_restorer);
    if (sigismember(&mask, number) == 1) state.blocked.push_back(number);
  }
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++state.threads;
  return state;
}

}  // namespace dsbuild
