// Lets a build with nothing to do end without a plan. The file `unchanged` next to build.ninja lists all
// inputs of the last plan: the command line, the environment, and each answer of the disk and of programs to
// planning and publishing. If all inputs are equal, the plan is equal, too.
#pragma once

#include <functional>

#include "bundle/bundle.h"
#include "driver/plan.h"

namespace dsbuild {

// What a build with nothing to do prints.
struct UnchangedBuild {
  std::string shown;  // the plan and its warnings, as they were shown
  Bundle bundle;
  size_t ops = 0;
  int skipped = 0;
  std::optional<size_t> compared;
};

// Finds out whether nothing has changed since the last build. Asks programs again
// (lib/driver/process_answers.h). nullopt: the caller must plan and build, because something has changed, an
// action has to run, a second dsbuild holds the lock, or identities are not trusted (--paranoid). `asked`,
// here and below: the command line and the terminal, which also decide the request and the shown text.
std::optional<UnchangedBuild> find_unchanged_build(const Request& request, const std::string& asked,
                                                   const System& system);

// The same without the lock, so that many processes may look at once. Files may change right after the look.
std::optional<UnchangedBuild> look_for_unchanged_build(const Request& request, const std::string& asked,
                                                       const System& system);

// Makes the same plan again from nothing; all access to disk and programs goes through `system`.
using PlanAgain = std::function<Result<Plan>(System& system)>;

// Call it under the lock, after a build that did something has published. Makes the plan once more, and notes
// each access to disk and programs. By now, facts about compilers are known, so this plan starts few
// programs. dsbuild does not remember a plan that now differs, that started a program for more than its
// answer, or that read a file which is just being changed.
void remember_build(const UnchangedBuild& build, const std::string& asked, const Plan& plan,
                    const PlanAgain& plan_again, System& system);

// Call it after a build that made a plan but had nothing to do. If only the bundle's files have changed
// (`dsbuild sign` adds a signature, for example), notes their new state, so that the next build needs no
// plan.
void remember_results(const std::string& asked, const Plan& plan, System& system);

}  // namespace dsbuild
