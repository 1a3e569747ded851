// Questions to the Python of --python. Its answer is a value and the file that it rests on.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/version.h"
#include "requirements/file_backed_fact.h"

namespace dsbuild {

// The interpreter that is asked, and where its answers are remembered.
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

// What an interpreter says of itself: platform, sys and sysconfig.
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

// Where that interpreter looks for packages that pip installs with files of one machine: its `platlib`, a
// site-packages or dist-packages folder, which need not be there yet.
Result<Path> find_platlib(const Interpreter& python);

// For scripts that say more than Python does of itself: this text ahead of theirs defines `facts`, a dict to
// add to, and `tell(file)`, which prints it; read_facts gives the dict back, read_python what Python put
// there.
extern const char* const k_facts_prelude;
std::map<std::string, std::string> read_facts(const std::string& answer);
Python read_python(const std::map<std::string, std::string>& facts);

}  // namespace dsbuild
