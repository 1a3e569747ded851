#include "driver/slice_tests.h"

#include <chrono>
#include <random>

#include "base/build_layout.h"
#include "driver/slicing.h"
#include "nvcc/self_test.h"

namespace dsbuild {
namespace {

constexpr std::chrono::seconds k_told_after(2);

// TMPDIR of builds is relative to the build folder.
Environment self_test_environment(Environment environment) {
  environment.erase("TMPDIR");
  return environment;
}

struct TestFolders {
  Path cache, build;  // the second where the first cannot be written
};

std::string test_slices(const Args& nvcc, const NvccCommands& commands, const SlicedTools& tools,
                        const TestFolders& folders, const System& system, const std::stop_token& stop,
                        bool& is_in_build_folder) {
  // Another dsbuild may test too.
  const std::string name = "slices-" + std::to_string(std::random_device()());
  const Path cache = folders.cache / name;
  is_in_build_folder = !system.files.make_directories(cache);
  return slices_differ_by(nvcc, commands, tools.roots,
                          is_in_build_folder ? folders.build / k_tool_tmp_dir / name : cache, system.program,
                          {system.files, system.processes, self_test_environment(tools.environment)}, stop);
}

}  // namespace

SliceTests::SliceTests(const Plan& plan, Session& session) : session_(session) {
  if (plan.untested.empty()) return;
  start(plan.untested, sliced_tools(*plan.cuda(), plan.graph.tools, plan.tools, plan.roots, session.system),
        plan.settings());
}

SliceTests::SliceTests(const std::vector<SliceTest>& untested, const SlicedTools& tools,
                       const Settings& settings, Session& session)
    : session_(session) {
  if (!untested.empty()) start(untested, tools, settings);
}

void SliceTests::start(const std::vector<SliceTest>& untested, const SlicedTools& tools,
                       const Settings& settings) {
  for (const SliceTest& test : untested)
    tests_.push_back({test, learn_commands(test.command, tools, session_)});
  session_.events.on_note(
      "self-test, once for this toolkit, during the build: whether slices make what its nvcc makes");
  const TestFolders folders = {settings.cache_dir, session_.system.files.absolute(settings.build_dir.value)};
  running_ = std::async(std::launch::async, [this, tools, folders] {
    for (Running& running : tests_)
      running.difference = running.commands
                               ? test_slices(running.test.command, *running.commands, tools, folders,
                                             session_.system, stop_.get_token(), running.is_in_build_folder)
                               : running.commands.error();
  });
}

bool SliceTests::plan_stands() {
  if (running_.valid() && running_.wait_for(k_told_after) == std::future_status::timeout)
    session_.events.on_message("waiting for the self-test of slices");
  if (running_.valid()) running_.get();
  bool stands = true;
  for (const auto& [test, commands, difference, is_in_build_folder] : tests_) {
    FactStore& facts = is_in_build_folder ? session_.build_facts : session_.facts;
    if (difference.empty())
      facts.put(test.fact, test.basis(), k_slices_are_the_same);
    else  // a full disk here would be no reason elsewhere
      facts.put(test.fact, test.identity, difference);
    if (!difference.empty() && test.refusal.empty()) stands = false;
  }
  tests_.clear();
  return stands;
}

}  // namespace dsbuild
