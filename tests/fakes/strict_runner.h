// Runs hermetic tools as another machine would: in their folder is nothing but the inputs that they have, and
// of what they make nothing but the outputs that they name comes back.
#pragma once

#include <algorithm>
#include <set>

#include "exec/local_runner.h"
#include "sys/file_system.h"

namespace dsbuild {

class StrictRunner : public LocalRunner {
 public:
  StrictRunner(ProcessRunner& processes, FileSystem& files) : LocalRunner(processes), files_(files) {}

  std::vector<ToolRun> seen;  // all that were submitted

  Handle submit(ToolRun run) override {
    seen.push_back(run);
    if (run.hermetic) leave_only(run.command.cwd, run.hermetic->inputs);
    return LocalRunner::submit(std::move(run));
  }

  Result<ProcessResult> wait(Handle handle) override {
    const ToolRun run = seen.back();
    auto result = LocalRunner::wait(handle);
    if (!run.hermetic) return result;
    std::vector<std::string> known = run.hermetic->inputs;
    known.insert(known.end(), run.hermetic->outputs.begin(), run.hermetic->outputs.end());
    leave_only(run.command.cwd, known);
    return result;
  }

 private:
  void leave_only(const Path& folder, const std::vector<std::string>& names) {
    const std::set<std::string> known(names.begin(), names.end());
    const auto there = files_.list(folder);
    for (const std::string& name : there.value())
      if (known.count(name) == 0) (void)files_.remove_all(folder / name);
  }

  FileSystem& files_;
};

}  // namespace dsbuild
