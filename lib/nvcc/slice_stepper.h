// The steppers for the parts of a translation unit (lib/nvcc/step_file.h).
#pragma once

#include <memory>

#include "nvcc/slice_results.h"
#include "nvcc/slice_tools.h"

namespace dsbuild {

class SliceStepper : public Stepper {
 public:
  SliceStepper(const StepUnit& unit, Engine& engine)
      : unit_(unit), engine_(engine), tools_(unit, engine), results_(unit, engine) {}

  std::string path_of(const std::string& name) const override { return unit_.path + name; }
  std::vector<std::string> output_names() const override { return unit_.step.outputs; }
  std::optional<ToolResult> find(const ResultKey& key, const std::string& lines, Engine&) const override {
    return results_.find(key, lines);
  }
  std::string shown(const std::string& output) const override { return tools_.shown(output); }

 protected:
  // Adds the tool output of a cached result to a record, and prints it.
  void replay(const std::vector<ToolOutput>& output, Record& record);
  std::vector<std::string> input_files() const;

  const StepUnit& unit_;
  Engine& engine_;
  SliceTools tools_;
  SliceResults results_;
};

// By the step file's part: the source → the host's C++ ("front"); the source → PTX, the images of one virtual
// arch, the stub ("compute_80"); the host's C++ and a stub → the host's object ("host"); all images → the
// object that the host's refers to ("fatbin"). The unit outlives it. Errors: those of reading its inputs.
Result<std::unique_ptr<Stepper>> make_slice_stepper(const StepUnit& unit, Engine& engine);

// Of make_slice_stepper.
std::unique_ptr<Stepper> make_front_stepper(const StepUnit& unit, Engine& engine);
std::unique_ptr<Stepper> make_device_stepper(const StepUnit& unit, Engine& engine);
Result<std::unique_ptr<Stepper>> make_host_stepper(const StepUnit& unit, Engine& engine);
std::unique_ptr<Stepper> make_fatbin_stepper(const StepUnit& unit, Engine& engine);

}  // namespace dsbuild
