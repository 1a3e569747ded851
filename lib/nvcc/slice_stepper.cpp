#include "nvcc/slice_stepper.h"

namespace dsbuild {

void SliceStepper::replay(const std::vector<ToolOutput>& said, Record& record) {
  for (const ToolOutput& one : said)
    engine_.print(shown(one.text));
  record.said.insert(record.said.end(), said.begin(), said.end());
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
