// Programs that stand for a compiler and start another one: scripts, and programs that do the same. Which one
// that is may depend on anything, so that they are asked again in each build. Private to lib/toolkit, but for
// is_script and is_wrapper.
#pragma once

#include "sys/fact_store.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {

// A program that is not machine code.
bool is_script(const Path& program, const FileReader& files, FactStore& facts);

// How a driver shows that it is the one that answers.
struct DriverProof {
  Args question;  // without the program
  bool (*is_of_driver)(const std::string& said, const Path& program, const FileReader& files);
};
// gcc names itself as COLLECT_GCC, clang as what it starts for `-cc1`.
const DriverProof& proof_of_host_compiler();

// False only where the program has answered by itself: it answers although the kernel lets it start no other
// program (Command::is_alone), and what it says is what the driver at this path says. That is remembered for
// as long as the program and its libraries are the same.
bool is_wrapper(const Path& program, const DriverProof& proof, System& system, FactStore& facts);

// The answers of a program rest on its bytes, those of the libraries that it loads, and `text`. Answers of a
// wrapper count on this machine alone.
FactBasis basis_of_answers(const Path& program, const DriverProof& proof, const std::string& text,
                           System& system, FactStore& facts);

// What a script names, and what scripts among these name: programs that it starts, files with options.
Paths files_of_scripts(const Paths& programs, const FileReader& files, FactStore& facts);

}  // namespace dsbuild
