#include "nvcc/step_unit.h"

#include <algorithm>

#include "base/build_layout.h"
#include "nvcc/line_normalization.h"

namespace dsbuild {
namespace {

Environment tools_environment(const StepFile& step, const System& system) {
  Environment environment = system.environment;
  for (const auto& [name, value] : step.environment)
    environment[name] = replace_all(with_absolute_roots(value, system.files.absolute(".")), k_any_path,
                                    variable(system.environment, "PATH"));
  if (const std::string temporary = variable(system.environment, "TMPDIR"); !temporary.empty())
    environment["TMPDIR"] = system.files.absolute(temporary).string();  // tools run in several folders
  return environment;
}

// What follows the unit's name in the output that Ninja knows the part by.
std::string end_of(const std::string& output, const StepFile& step) {
  const auto end = std::find_if(step.outputs.begin(), step.outputs.end(),
                                [&](const std::string& each) { return output.ends_with(each); });
  return end == step.outputs.end() ? step.outputs.front() : *end;
}

}  // namespace

Args StepUnit::expand(const Args& words, const std::string& unit) const {
  Args expanded;
  for (const std::string& word : words) {
    std::string text = replace_all(word, k_any_source, request.source);
    text = replace_all(std::move(text), k_any_unit, unit);
    expanded.push_back(replace_all(std::move(text), k_any_seed, module_id));
  }
  return expanded;
}

std::string StepUnit::text_for_key(const std::string& text) const {
  return step.positions == KeptPositions::none ? without_positions(text) : text;
}

Key StepUnit::key_of(std::string_view inputs, const std::vector<Args>& commands) const {
  Key key;
  key.add("version", k_key_version).add_bytes("tools", tools).add("module_id", module_id);
  key.add_bytes("text", inputs);
  for (const Args& command : commands)
    key.add(k_command_part, shell_join(expand(command, stem)));
  return key;
}

Result<StepUnit> load_step_unit(const SliceStep& request, const System& system) {
  StepUnit unit;
  unit.request = request;
  DSBUILD_TRY(text, system.files.read_file(request.step_file));
  unit.step = parse_step_file(text);
  if (unit.step.outputs.empty() || unit.step.commands.empty())
    return fail(Exit::failed, "bad_option", request.step_file.string(),
                "the file names no command or no output", "Build with dsbuild, which writes it again.");
  const std::string end = end_of(request.output, unit.step);
  unit.path = request.output.substr(0, request.output.size() - end.size());
  unit.stem = Path(unit.path).filename().string();
  unit.scratch = unit.path + "." + unit.step.part + k_scratch_end;
  if (!unit.step.place.empty()) unit.scratch = system.files.absolute(unit.scratch);  // for tools elsewhere
  DSBUILD_TRY(module_id, system.files.read_file(unit.path + k_module_id_end));
  unit.module_id = trim(module_id);
  DSBUILD_TRY(arch_list, system.files.read_file(unit.path + k_arch_list_end));
  unit.arch_list = trim(arch_list);
  const auto folder = system.files.read_file(unit.path + k_folder_in_objects_end);
  unit.folder_in_objects = folder ? trim(*folder) : k_folder_in_objects;
  DSBUILD_TRY(tools, system.files.read_file(unit.reads_source() ? k_device_id_file : k_nvcc_id_file));
  unit.tools = tools;
  unit.environment = tools_environment(unit.step, system);
  return unit;
}

}  // namespace dsbuild
