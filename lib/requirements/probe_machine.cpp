// Needs that the machine meets as it stands, or not: nothing is compiled for them.
#include <algorithm>

#include "requirements/probe.h"

namespace dsbuild {
namespace {

// find_spec of a dotted name would import the parents; PathFinder takes their folders instead.
const char k_find_module[] = R"(
import importlib.machinery, importlib.util, sys
name = sys.argv[1]
parts = name.split(".")
spec = importlib.util.find_spec(parts[0])
for end in range(2, len(parts) + 1):
    folders = spec and spec.submodule_search_locations
    spec = folders and importlib.machinery.PathFinder.find_spec(".".join(parts[:end]), folders)
if not spec:
    print("no Python module " + name)
    sys.exit(1)
place = spec.origin or next(iter(spec.submodule_search_locations or []), "")
print(place)
print(place)
)";

}  // namespace

// {command: [a, b]}: one of them is on PATH. Nothing is started.
Finding probe_command(const ProbeInput& input) {
  for (const std::string& name : input.requirement.subjects) {
    if (const auto program = find_program(input.system, name)) return met(input, program->string());
  }
  return unmet(input, "not on PATH: " + join(input.requirement.subjects, ", "));
}

// {cpu: avx2}: the CPU of the machine that builds has the feature.
Finding probe_cpu_feature(const ProbeInput& input) {
  const std::vector<std::string> features = split(input.host.cpu_features, " ");
  if (features.empty()) return unmet(input, "the features of this CPU are not known");
  const bool has = std::find(features.begin(), features.end(), subject_of(input)) != features.end();
  if (has) return met(input, "this CPU has " + subject_of(input));
  return unmet(input, "this CPU (" + input.host.machine + ") lacks " + subject_of(input));
}

// {source: a.cu, lacks: TEXT, because: WHY}: a file of the sources does not hold the text of a known fault.
Finding probe_source(const ProbeInput& input) {
  const std::string& file = subject_of(input);
  const Result<std::string> text = input.system.files.read_file(input.source_root / file);
  if (!text) return unmet(input, text.error().where + ": " + text.error().what);
  const size_t at = text->find(input.requirement.lacks);
  if (at == std::string::npos) return met(input, file + " is without the known fault");
  const auto line = 1 + std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return unmet(input, file + ":" + std::to_string(line) + ": " + input.requirement.because);
}

// {module: triton}: Python's importlib finds it. Neither it nor its parents are imported.
Finding probe_module(const ProbeInput& input) {
  const std::string& name = subject_of(input);
  const Result<FileBackedFact> answer =
      ask_python(interpreter_of(input), "python module " + name, k_find_module, name);
  if (answer) return met(input, name + " in " + answer->answer);
  return unmet(input, answer.error().what);
}

// {cuda: ">=11.0"}: the chosen toolkit's version.
Finding probe_cuda(const ProbeInput& input) {
  if (input.toolkit == nullptr) return unmet(input, "no CUDA toolkit");
  const Version& version = input.toolkit->version;
  const std::string named = input.toolkit->name() + " in " + input.toolkit->home.string();
  Finding finding = input.requirement.range.contains(version)
                        ? met(input, named)
                        : unmet(input, named + " is not " + input.requirement.range.text);
  finding.version = version.text();
  return finding;
}

}  // namespace dsbuild
