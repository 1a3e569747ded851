// Runs the tools of one part, when there is memory for them.
#pragma once

#include "nvcc/step_unit.h"
#include "sys/memory_gate.h"

namespace dsbuild {

using Print = std::function<void(std::string_view)>;

class StepTools {
 public:
  StepTools(const StepUnit& unit, System& system, MemoryTurn& turn, const Print& print)
      : unit_(unit), system_(system), print_(print), turn_(turn) {}

  // Before it is known whether there is anything to do; before the tools that do it.
  void wait_to_look() { turn_.wait_to_look(); }
  void wait_to_work(const SeenText& text = {}) { turn_.wait_to_work(text); }

  // Exit codes. What a tool says is printed, whether it fails or not. In the scratch folder the stand-in is
  // a name; in the build folder, or where the source's place is, it is a path to the scratch folder.
  Result<int> run_in_scratch(const Words& command);
  Result<int> run_in_build_folder(const Words& command);
  Result<int> run(Words argv, const Path& folder);

  // What the tools have said since this was asked last, without the scratch folder, of the text they had.
  std::string take_said() { return std::exchange(said_, {}); }
  // Prints what tools said when they made what was taken now.
  void say_again(const std::vector<Said>& said);

 private:
  void say(const std::string& text);  // with the names of the unit's list of archs

  const StepUnit& unit_;
  System& system_;
  const Print& print_;
  MemoryTurn& turn_;
  std::string said_;
};

}  // namespace dsbuild
