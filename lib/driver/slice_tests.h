// Self-tests of slices (lib/nvcc/self_test.h). They run during the build that relies on slices.
#pragma once

#include <future>
#include <stop_token>

#include "driver/slicing.h"

namespace dsbuild {

// Whether self-tests run during this build, or have already run and this is the build after them.
enum class SliceTesting { beside, done };

// Runs the self-tests of a plan or of given tools in a thread. They need one core and a folder in the cache
// folder. The build needs their answer only before it publishes.
class SliceTests {
 public:
  // Starts the tests, which run one after the other. The plan or the toolkit must outlive this object.
  SliceTests(const Plan& plan, Session& session);
  SliceTests(const std::vector<SliceTest>& untested, const SlicedTools& tools, const Settings& settings,
             Session& session);
  SliceTests(const SliceTests&) = delete;
  SliceTests& operator=(const SliceTests&) = delete;
  ~SliceTests() { stop_.request_stop(); }  // running_ then waits for the present command

  // Waits for the tests, with a message if that takes more than 2 s, and stores the verdicts. Returns false
  // if the plan has slices that differ from nvcc's output; then the next call of why_not_sliced gives the
  // reason.
  bool plan_stands();

 private:
  struct Running {
    SliceTest test;
    LearntCommands commands;
    std::string difference{};
    // The cache folder is not writable, so the verdict is stored in the build folder.
    bool is_in_build_folder = false;
  };

  void start(const std::vector<SliceTest>& untested, const SlicedTools& tools, const Settings& settings);

  Session& session_;
  std::vector<Running> tests_;
  std::stop_source stop_;
  std::future<void> running_;  // last member, because the thread uses the others
};

}  // namespace dsbuild
