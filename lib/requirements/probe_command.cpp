// {command: [a, b]}: one of them is on PATH. Nothing is started.
#include "requirements/probe.h"

namespace dsbuild {

Finding probe_command(const ProbeInput& input) {
  for (const std::string& name : input.requirement.subjects) {
    if (const auto program = find_program(input.system, name)) return met(input, program->string());
  }
  return unmet(input, "not on PATH: " + join(input.requirement.subjects, ", "));
}

}  // namespace dsbuild
