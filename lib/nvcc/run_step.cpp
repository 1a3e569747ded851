#include "nvcc/run_step.h"

#include "nvcc/slice_stepper.h"

namespace dsbuild {
namespace {

// For people, who have no module id and no step files.
std::string plain_command(const StepUnit& unit) {
  Args command = unit.step.nvcc;
  command.insert(command.end(), unit.request.gencodes.begin(), unit.request.gencodes.end());
  command.insert(command.end(), {"-c", unit.request.source, "-o", "/dev/null"});
  return std::string(k_nvcc_alone) + shell_join(command) + "\n";
}

Result<StepEnd> drive(const StepUnit& unit, Engine& engine) {
  DSBUILD_TRY(stepper, make_slice_stepper(unit, engine));
  return engine.drive(*stepper);
}

}  // namespace

Result<StepEnd> run_slice_step(const SliceStep& request, Engine& engine) {
  DSBUILD_TRY(unit, load_step_unit(request, engine.machine()));
  DSBUILD_CHECK(engine.files().remove_all(unit.scratch));
  DSBUILD_CHECK(engine.files().make_directories(unit.scratch));
  auto end = drive(unit, engine);
  (void)engine.files().remove_all(unit.scratch);
  if (end && end->code != 0 && !unit.step.preprocess.empty()) engine.print(plain_command(unit));
  return end;
}

}  // namespace dsbuild
