// What a compiler is made of: the programs that it starts and the files that they read unasked. They come in
// packages of their own, and may be exchanged without the compiler itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/system.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

// A program that is not machine code may run anything: what it says of itself is asked again in each build
// that uses it.
bool is_script(const Path& program, const FileReader& files, FactStore& facts);

// What a compiler and its linker are.
struct ToolText {
  std::string text;                    // "<sha256> <path>" a line, sorted
  bool links_tell_files = false;       // the linker has --dependency-file (GNU ld 2.35, lld 14 and newer)
  bool assembler_tells_files = false;  // it has --MD (GNU as; the one in clang has not)
  std::vector<std::string> folders;    // where it looks for headers unasked; behind "-L", for libraries
  bool operator==(const ToolText&) const = default;
};
struct ToolParts {
  std::map<std::string, ToolText> by_name;  // CompilerFamily::tool, and "cxx"; with its host compiler's

  const ToolText& of(const std::string& name) const;  // empty: there is none
  bool operator==(const ToolParts&) const = default;
};

// The compiler, and each file that it names when it is asked what it would run
// (`-###`: cc1plus, as, collect2, the linker's start files; as and ld by -print-prog-name). The error is that
// of one that does not answer.
Result<ToolText> parts_of_host_compiler(const Path& compiler, System& system, FactStore& facts,
                                        DigestMemo& digests);

// The same of a toolkit's compiler (nvcc by `--dryrun`: cudafe++, cicc, ptxas, fatbinary; nvcc.profile,
// libdevice) and of its host compiler, where it has one.
Result<ToolText> parts_of_toolkit(const Toolkit& toolkit, System& system, FactStore& facts,
                                  DigestMemo& digests);

// Whether the scripts among them still say what is known of them; where one does not, it is known from then
// on, and toolkits are to be found anew.
bool scripts_answer_as_known(const std::vector<Toolkit>& toolkits, const std::optional<HostCompiler>& cxx,
                             System& system, FactStore& facts);

}  // namespace dsbuild
