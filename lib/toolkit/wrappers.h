// Recognises wrappers: scripts or programs that start the real compiler. Its choice may depend on anything,
// so dsbuild asks wrappers again in each build. Private to lib/toolkit, except is_script and is_wrapper.
#pragma once

#include "sys/fact_store.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {

// Whether a program is not machine code.
bool is_script(const Path& program, const FileReader& files, FactStore& facts);

// A question whose answer shows that the program itself is the compiler's driver.
struct DriverProof {
  Args question;  // without the program
  bool (*is_of_driver)(const std::string& said, const Path& program, const FileReader& files);
};
// gcc names itself as COLLECT_GCC, clang as what it starts for `-cc1`.
const DriverProof& proof_of_host_compiler();

// False only if the program answers although the kernel lets it start no other program (Command::is_alone),
// and names itself as the driver at this path. The result is stored as long as the program and its libraries
// are unchanged.
bool is_wrapper(const Path& program, const DriverProof& proof, System& system, FactStore& facts);

// The basis of a program's answers: its bytes, those of the libraries that it loads, and `text`. Answers of a
// wrapper are valid only on this machine.
FactBasis basis_of_answers(const Path& program, const DriverProof& proof, const std::string& text,
                           System& system, FactStore& facts);

// The files that scripts name, such as programs and files with options, and the files that scripts among
// these name.
Paths files_of_scripts(const Paths& programs, const FileReader& files, FactStore& facts);

}  // namespace dsbuild
