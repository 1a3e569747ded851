// Self-tests of slices (lib/nvcc/self_test.h). They run during the build that relies on slices.
#pragma once

#include <future>
#include <stop_token>

#include "driver/slicing.h"

namespace dsbuild {

// Whether a build is the first, which starts them, or the one after it.
enum class SliceTesting { beside, done };

// Those of a plan, or of some tools. They need no more than a core and a folder below the cache folder, and
// nothing of the build needs their answer before it publishes.
class SliceTests {
 public:
  // Starts them, one after the other. The plan, or the toolkit, outlives this.
  SliceTests(const Plan& plan, Session& session);
  SliceTests(const std::vector<SliceTest>& untested, const SlicedTools& tools, const Settings& settings,
             Session& session);
  SliceTests(const SliceTests&) = delete;
  SliceTests& operator=(const SliceTests&) = delete;
  ~SliceTests() { stop_.request_stop(); }  // waits for the command that it runs

  // Waits for them, tells so where that takes a while, and remembers what they found. false: slices were
  // counted on that are not what nvcc makes; why_not_sliced knows that now.
  bool plan_stands();

 private:
  struct Running {
    SliceTest test;
    LearntCommands commands;
    std::string difference{};
    bool is_in_build_folder = false;  // the cache folder cannot be written: what is found is kept here
  };

  void start(const std::vector<SliceTest>& untested, const SlicedTools& tools, const Settings& settings);

  Session& session_;
  std::vector<Running> tests_;
  std::stop_source stop_;
  std::future<void> running_;  // last, for it uses the others
};

}  // namespace dsbuild
