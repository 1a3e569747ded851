// Asks the Python of --python. An answer is a value and the file that it depends on.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/version.h"
#include "requirements/file_backed_fact.h"

namespace dsbuild {

// The interpreter, and the store for its answers.
struct Interpreter {
  std::string program;  // a path, or a name on PATH
  System& system;
  FactStore& facts;

  std::optional<Path> find() const;  // absolute
};

// Runs `script` with `argument`. The script prints the value and the file, a line each, and exits
// with 0; with 1 and a line that says what is missing; anything else is a failure of Python.
// Remembered under `key` while the interpreter, its variables and the file are the same.
// Error: exit 3, code `python`, with the reason in `what`.
Result<FileBackedFact> ask_python(const Interpreter& python, const std::string& key,
                                  const std::string& script, const std::string& argument);

// An interpreter's description of itself, from platform, sys and sysconfig.
struct Python {
  std::string version;     // "3.11.7"
  Path executable;         // sys.executable
  std::string tag;         // of wheels: "cp311"
  std::string ext_suffix;  // of extension modules: ".cpython-311-x86_64-linux-gnu.so"
  Path include_dir;        // where Python.h is, if it is installed
  Path prefix;             // sys.prefix, a virtual environment's own
  bool operator==(const Python&) const = default;
};
Result<Python> find_python(const Interpreter& python);

// The interpreter's folder for packages with compiled files: its `platlib`, a site-packages or dist-packages
// folder, which may not exist yet.
Result<Path> find_platlib(const Interpreter& python);

// A prefix for scripts that add further facts. It defines `facts`, a dict to add to, and `tell(file)`, which
// prints it. read_facts returns that dict, read_python the part that describes the interpreter.
extern const char* const k_facts_prelude;
std::map<std::string, std::string> read_facts(const std::string& answer);
Python read_python(const std::map<std::string, std::string>& facts);

}  // namespace dsbuild
