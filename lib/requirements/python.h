// Questions to the python3 on PATH. Its answer is a value and the file that it rests on.
#pragma once

#include <optional>
#include <string>

#include "base/version.h"
#include "requirements/witness.h"

namespace dsbuild {

// Runs `script` with `argument`. The script prints the value and the file, a line each, and exits
// with 0; with 1 and a line that says what is missing; anything else is a failure of Python.
// Remembered under `key` while python3, its variables and the file are the same.
// Error: exit 3, code `python`, with the reason in `what`.
Result<Witnessed> ask_python(System& system, FactStore& facts, const std::string& key,
                             const std::string& script, const std::string& argument);

std::optional<Path> find_python(const System& system);  // absolute

// Its version, and the executable that it really is.
Result<Witnessed> find_python_version(System& system, FactStore& facts);

// The installed torch, without importing it; Witnessed::answer is its version as Python gives it.
Result<Witnessed> find_torch(System& system, FactStore& facts);

}  // namespace dsbuild
