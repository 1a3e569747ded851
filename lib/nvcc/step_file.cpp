#include "nvcc/step_file.h"

#include <algorithm>

#include "base/build_layout.h"
#include "base/digest.h"

namespace dsbuild {
namespace {

constexpr const char* k_device_lines = "device_lines";  // of positions

std::string render_line(const char* name, const Args& words) {
  return std::string(name) + " " + shell_join(words) + "\n";
}

// ".compute_80.ptx" of "dsbuild_tu.compute_80.ptx".
std::string end_of(const std::string& file) {
  return file.substr(std::string_view(k_any_unit).size());
}

StepFile front_step(const NvccCommands& commands) {
  StepFile step;
  step.part = "front";
  step.preprocess = commands.host_preprocess;
  step.commands = {commands.front_end};
  step.outputs = {".cudafe1.cpp"};
  return step;
}

StepFile device_step(const DeviceCommands& device) {
  StepFile step;
  step.part = device.arch;
  step.preprocess = device.preprocess;
  step.commands = {device.compile};
  step.outputs = {end_of(value_of(device.compile, "-o"))};
  for (const Args& assemble : device.assemble) {
    step.commands.push_back(assemble);
    if (const std::string cubin = value_of(assemble, "-o"); !cubin.empty())
      step.outputs.push_back(end_of(cubin));
  }
  step.outputs.push_back("." + device.arch + k_stub_end);
  return step;
}

StepFile host_step(const NvccCommands& commands) {
  StepFile step;
  step.part = "host";
  step.commands = {commands.host_compile};
  for (std::string& word : step.commands.front())
    if (word == std::string(k_any_unit) + ".o") word = std::string(k_any_unit) + ".host.o";
  step.inputs = {".cudafe1.cpp", "." + commands.stub_arch + k_stub_end};
  step.outputs = {".host.o"};
  return step;
}

// fatbinary, and the assembler that puts its file into an object: the compiler of the host, with no flags.
StepFile fatbin_step(const NvccCommands& commands) {
  const std::string unit = k_any_unit;
  StepFile step;
  step.part = "fatbin";
  step.commands = {commands.fatbinary,
                   {commands.host_compile.front(), "-c", unit + ".fatbin.s", "-o", unit + ".o"}};
  for (const std::string& word : commands.fatbinary)
    if (const size_t file = word.find(",file="); file != std::string::npos)
      step.inputs.push_back(end_of(word.substr(file + 6)));
  step.outputs = {".o"};
  return step;
}

}  // namespace

std::string render_step_file(const StepFile& step) {
  std::string text = render_line("part", {step.part});
  for (const auto& [name, value] : step.environment)
    text += render_line("variable", {name, value});
  if (!step.preprocess.empty()) text += render_line("preprocess", step.preprocess);
  for (const Args& command : step.commands)
    text += render_line("run", command);
  if (!step.inputs.empty()) text += render_line("inputs", step.inputs);
  if (step.positions == KeptPositions::any) text += render_line("positions", {"any"});
  if (step.positions == KeptPositions::device_lines) text += render_line("positions", {k_device_lines});
  const PathMap& place = step.place;
  if (!place.empty())
    text += render_line("place",
                        {place.folder, place.root, place.source, place.is_temporary ? "temporary" : "own"});
  return text + render_line("outputs", step.outputs) + render_line("nvcc", step.nvcc);
}

StepFile parse_step_file(std::string_view text) {
  StepFile step;
  for (const std::string& line : split_lines(text)) {
    Args words = shell_split(line);
    if (words.size() < 2) continue;
    const std::string name = words.front();
    words.erase(words.begin());
    if (name == "part") step.part = words.front();
    if (name == "variable" && words.size() == 2) step.environment[words[0]] = words[1];
    if (name == "preprocess") step.preprocess = words;
    if (name == "run") step.commands.push_back(words);
    if (name == "inputs") step.inputs = words;
    if (name == "outputs") step.outputs = words;
    if (name == "positions")
      step.positions = words.front() == k_device_lines ? KeptPositions::device_lines : KeptPositions::any;
    if (name == "place" && words.size() == 4)
      step.place = {words[0], words[1], words[2], words[3] == "temporary"};
    if (name == "nvcc") step.nvcc = words;
  }
  return step;
}

std::vector<StepFile> plan_steps(const NvccCommands& commands, const Args& nvcc) {
  std::vector<StepFile> steps = {front_step(commands)};
  for (const DeviceCommands& device : commands.devices)
    steps.push_back(device_step(device));
  steps.push_back(host_step(commands));
  steps.push_back(fatbin_step(commands));
  for (StepFile& step : steps) {
    step.positions = kept_positions(commands);
    step.environment = commands.environment;
    step.nvcc = nvcc;
    for (std::string& word : step.preprocess)
      if (word.starts_with(k_arch_list)) word = k_arch_list;
  }
  return steps;
}

std::string module_id_of(const std::string& source) {
  std::string name = Path(source).filename().string();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  const std::string digest = sha256(source);
  return "_" + digest.substr(0, 8) + "_" + std::to_string(name.size()) + "_" + name + "_" +
         digest.substr(8, 8);
}

}  // namespace dsbuild
