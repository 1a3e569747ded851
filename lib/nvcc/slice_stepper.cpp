#include "nvcc/slice_stepper.h"

namespace dsbuild {

void SliceStepper::replay(const std::vector<ToolOutput>& output, Record& record) {
  for (const ToolOutput& one : output)
    engine_.print(shown(one.text));
  record.tool_output.insert(record.tool_output.end(), output.begin(), output.end());
}

std::vector<std::string> SliceStepper::input_files() const {
  std::vector<std::string> files;
  for (const std::string& input : unit_.step.inputs)
    files.push_back(unit_.path + input);
  return files;
}

Result<std::unique_ptr<Stepper>> make_slice_stepper(const StepUnit& unit, Engine& engine) {
  const std::string& part = unit.step.part;
  if (part == "host") return make_host_stepper(unit, engine);
  if (part == "fatbin") return make_fatbin_stepper(unit, engine);
  if (part == "front") return make_front_stepper(unit, engine);
  return make_device_stepper(unit, engine);
}

}  // namespace dsbuild
