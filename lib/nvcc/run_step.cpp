#include "nvcc/run_step.h"

#include "nvcc/step_parts.h"

namespace dsbuild {
namespace {

Result<int> run_part(StepPart& part) {
  const std::string& kind = part.unit.step.part;
  if (kind == "front") return run_front(part);
  if (kind == "host") return run_host(part);
  if (kind == "fatbin") return run_fatbin(part);
  return run_device(part);
}

// For people, who have no module id and no step files.
std::string plain_command(const StepUnit& unit) {
  Words command = unit.step.nvcc;
  command.insert(command.end(), unit.request.gencodes.begin(), unit.request.gencodes.end());
  command.insert(command.end(), {"-c", unit.request.source, "-o", "/dev/null"});
  return std::string(k_nvcc_alone) + shell_join(command) + "\n";
}

}  // namespace

Result<StepEnd> run_slice_step(const SliceStep& request, ActionRun& action, MemoryTurn& turn, System& system,
                               const std::function<void(std::string_view)>& print) {
  DSBUILD_TRY(unit, load_step_unit(request, system));
  StepPart part{unit, action, {unit, system, turn, print}, {unit, action, system.files}, system.files};
  DSBUILD_CHECK(system.files.remove_all(unit.scratch));
  DSBUILD_CHECK(system.files.make_directories(unit.scratch));
  auto code = run_part(part);
  (void)system.files.remove_all(unit.scratch);
  if (!code) return tl::unexpected<Error>(code.error());
  if (*code != 0 && !unit.step.preprocess.empty()) print(plain_command(unit));
  return StepEnd{*code, *code == 0 ? part.results.made_of() : MadeOf::nothing_said};
}

}  // namespace dsbuild
