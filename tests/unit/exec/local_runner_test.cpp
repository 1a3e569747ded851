#include "exec/local_runner.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <thread>

#include "support/temp_folder.h"

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

ToolRun script(const std::string& text, const Path& folder = {}) {
  return {{{"/bin/sh", "-c", text}, {{"PATH", "/usr/bin:/bin"}}, folder, 60s}};
}

struct Runners {
  std::unique_ptr<ProcessRunner> processes = make_real_process_runner();
  LocalRunner runner{*processes};
};

bool comes(const Path& file) {
  for (const auto end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(5ms))
    if (std::filesystem::exists(file)) return true;
  return false;
}

}  // namespace

TEST_CASE("local runner: a tool gives its streams and its exit code, and one that cannot start an error") {
  Runners here;
  const auto handle = here.runner.submit(script("echo out; echo err >&2; exit 3"));
  const auto result = here.runner.wait(handle);
  REQUIRE(result);
  CHECK(result->exit_code == 3);
  CHECK(result->out == "out\n");
  CHECK(result->err == "err\n");
  const auto absent = here.runner.wait(here.runner.submit({{{"/absent/tool"}, {}, {}, 60s}}));
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == "cannot_start");
}

TEST_CASE("local runner: tools run at the same time, whoever is waited for first") {
  Runners here;
  const TempFolder folder;
  // Each ends when the other one has begun.
  const auto meet = [&](const std::string& own, const std::string& other) {
    return script("touch " + own + "; until [ -e " + other + " ]; do sleep 0.01; done; echo " + own,
                  folder.path());
  };
  const auto one = here.runner.submit(meet("one", "other"));
  const auto other = here.runner.submit(meet("other", "one"));
  CHECK(here.runner.wait(other)->out == "other\n");
  CHECK(here.runner.wait(one)->out == "one\n");
}

TEST_CASE("local runner: a cancelled tool ends with all that it started, also while one waits for it") {
  Runners here;
  const TempFolder folder;
  const auto handle =
      here.runner.submit(script("touch begun; (sleep 2; touch late) & sleep 60; echo never", folder.path()));
  REQUIRE(comes(folder.path() / "begun"));
  const auto start = std::chrono::steady_clock::now();
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    here.runner.cancel(handle);
  });
  const auto result = here.runner.wait(handle);
  other.join();
  REQUIRE(result);
  CHECK(result->exit_code == 137);
  CHECK_FALSE(result->timed_out);
  CHECK(result->out.empty());
  CHECK(std::chrono::steady_clock::now() - start < 20s);
  std::this_thread::sleep_for(2500ms);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "late"));
}

TEST_CASE("local runner: to cancel a tool that has ended changes nothing") {
  Runners here;
  const TempFolder folder;
  const auto handle = here.runner.submit(script("echo done; touch done", folder.path()));
  REQUIRE(comes(folder.path() / "done"));
  std::this_thread::sleep_for(100ms);
  here.runner.cancel(handle);
  CHECK(here.runner.wait(handle)->out == "done\n");
  here.runner.cancel(handle);
}

TEST_CASE("local runner: what nobody has waited for ends with the runner") {
  const TempFolder folder;
  const auto start = std::chrono::steady_clock::now();
  {
    Runners here;
    here.runner.submit(script("touch begun; sleep 60; touch late", folder.path()));
    REQUIRE(comes(folder.path() / "begun"));
  }
  CHECK(std::chrono::steady_clock::now() - start < 40s);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "late"));
}

TEST_CASE("refusing runner: it starts nothing") {
  RefusingRunner refusing;
  const auto result = refusing.wait(refusing.submit(script("touch started")));
  REQUIRE_FALSE(result);
  CHECK(result.error().code == "not_cached");
  CHECK_FALSE(std::filesystem::exists("started"));
}
