// {module: triton}: Python's importlib finds it. Neither it nor its parents are imported.
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

Finding probe_module(const ProbeInput& input) {
  const std::string& name = subject_of(input);
  const Result<FileBackedFact> answer =
      ask_python(interpreter_of(input), "python module " + name, k_find_module, name);
  if (answer) return met(input, name + " in " + answer->answer);
  return unmet(input, answer.error().what);
}

}  // namespace dsbuild
