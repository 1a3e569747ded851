#include "build/slice_tests.h"

#include <chrono>
#include <random>

#include "base/build_layout.h"
#include "build/slicing.h"
#include "nvcc/self_test.h"

namespace dsbuild {
namespace {

constexpr std::chrono::seconds k_told_after(2);

// That of builds, whose TMPDIR is relative to the build folder.
Environment self_test_environment(const Plan& plan, const System& system) {
  Environment environment = tool_environment(system.environment, plan.cuda());
  environment.erase("TMPDIR");
  return environment;
}

// In the cache folder, else in that of the build.
std::string test_slices(const Words& nvcc, const NvccCommands& commands, const Plan& plan,
                        const System& system, const std::stop_token& stop, bool& is_in_build_folder) {
  // Another dsbuild may test too.
  const std::string name = "slices-" + std::to_string(std::random_device()());
  const Path cache = plan.settings().cache_dir / name;
  is_in_build_folder = !system.files.make_directories(cache);
  const Path build = system.files.absolute(plan.settings().build_dir.value);
  return slices_differ_by(nvcc, commands, is_in_build_folder ? build / k_tool_tmp_dir / name : cache,
                          system.program,
                          {system.files, system.processes, self_test_environment(plan, system)}, stop);
}

}  // namespace

SliceTests::SliceTests(const Plan& plan, Session& session) : session_(session) {
  for (const SliceTest& test : plan.untested)
    tests_.push_back({test, learn_commands(test.command, plan, session)});
  if (tests_.empty()) return;
  session_.events.on_note(
      "self-test, once for this toolkit and beside the build: whether slices make what its nvcc makes");
  running_ = std::async(std::launch::async, [this, &plan] {
    for (Running& running : tests_)
      running.difference = running.commands
                               ? test_slices(running.test.command, *running.commands, plan, session_.system,
                                             stop_.get_token(), running.is_in_build_folder)
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
    facts.put(test.fact, test.identity, difference.empty() ? k_slices_are_the_same : difference);
    if (!difference.empty() && test.refusal.empty()) stands = false;
  }
  tests_.clear();
  return stands;
}

}  // namespace dsbuild
