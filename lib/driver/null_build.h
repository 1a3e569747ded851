// A build with nothing to do is not planned again. A file next to build.ninja lists all that the last plan
// was made of: the command line, the environment, and each answer that planning and publishing had from the
// disk and from programs. While all of them are the same, so is the plan.
#pragma once

#include <functional>

#include "bundle/bundle.h"
#include "driver/plan.h"

namespace dsbuild {

// What a build that did nothing says.
struct UnchangedBuild {
  std::string shown;  // the plan and its warnings, as they were shown
  Bundle bundle;
  size_t ops = 0;
  int skipped = 0;
  std::optional<size_t> compared;
};

// `asked`, here and below: all that the request and what is shown come from, but the environment and the disk
// (the command line, the terminal). nullopt: plan and build. So it is where something has changed, an action
// is due, another dsbuild holds the lock, or identities are not trusted (--paranoid).
// Programs whose answers no file tells are asked again (lib/driver/process_answers.h).
std::optional<UnchangedBuild> find_unchanged_build(const Request& request, const std::string& asked,
                                                   const System& system);

// The same without the lock, so that many may look at once. The answer holds for the moment of the look:
// files may change right after it.
std::optional<UnchangedBuild> look_for_unchanged_build(const Request& request, const std::string& asked,
                                                       const System& system);

// Makes the same plan again, from nothing, by the system that is given.
using PlanAgain = std::function<Result<Plan>(System& system)>;

// Call it under the lock, when a build that did something is published.
// The plan is made once more and watched: facts that the first one had to find (of compilers and the like)
// are known by now. Three kinds of plans are not remembered: one that differs by now, one that started a
// program for more than its answer, and one with a file that is just being changed.
void remember_build(const UnchangedBuild& build, const std::string& asked, const Plan& plan,
                    const PlanAgain& plan_again, System& system);

// The same when a build that did nothing was planned. Where only its results look different since, as those
// of a bundle that `dsbuild sign` has signed, the next build need not be planned.
void remember_results(const std::string& asked, const Plan& plan, System& system);

}  // namespace dsbuild
