// Finds the parts of a compiler: the programs that it starts, and the files that these always read. Parts may
// come in packages of their own, and may change without the compiler itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/system.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

// The parts of a compiler and its linker, and what they can do.
struct ToolText {
  // "<sha256> <path>" a line of each part; of a wrapper what it answers, too; of the variables that it gets
  std::string text;
  // "<sha256> <file name>" a line of each part that turns preprocessed text into device code, and the
  // variables; "": the family has none that run by themselves. All of them are in `text` too.
  std::string device_text;
  std::string
      device_parts;  // of the programs among them and what they load, "<sha256> <absolute path>" a line each
  // Likewise of those of gcc that turn preprocessed C++ into an object: cc1plus, as, what they load.
  std::string compile_parts;
  bool links_tell_files = false;       // the linker has --dependency-file (GNU ld 2.35, lld 14 and newer)
  bool assembler_tells_files = false;  // it has --MD (GNU as; the one in clang has not)
  std::vector<std::string> folders;    // where it looks for headers unasked; after "-L", for libraries
  bool operator==(const ToolText&) const = default;
};
struct ToolParts {
  std::map<std::string, ToolText> by_name;  // CompilerFamily::tool, and "cxx"; with its host compiler's

  const ToolText& of(const std::string& name) const;  // empty: there is none
  bool operator==(const ToolParts&) const = default;
};

// Parts of C++ compilers, each asked once for a plan: the compiler, and each file that it names when it is
// asked what it would run (`-###`: cc1plus, as, collect2, the linker's start files; as and ld by
// -print-prog-name), what configures it (specs, *.cfg), programs and specs that would be taken instead if
// they were there. The error is that of one that does not answer.
class HostCompilerParts {
 public:
  Result<ToolText> of(const Path& compiler, System& system, FactStore& facts, DigestMemo& digests);

 private:
  std::map<Path, ToolText> known_;
};

// The same of a toolkit's compiler (nvcc by `--dryrun`: cudafe++, cicc, ptxas, fatbinary; nvcc.profile,
// libdevice) and of its host compiler, where it has one.
Result<ToolText> parts_of_toolkit(const Toolkit& toolkit, HostCompilerParts& hosts, System& system,
                                  FactStore& facts, DigestMemo& digests);

// Files that flags of the user's name (configuration_files.h), as ToolText::text has them. `folder`: where
// the tools work.
std::string text_of_files_in_flags(const std::vector<std::string>& flags, const Path& folder,
                                   const FileReader& files, DigestMemo& digests);

// Whether the compiler of a toolkit is a wrapper, which starts it (toolkit/wrappers.h).
bool is_wrapped(const Toolkit& toolkit, System& system, FactStore& facts);

// Whether the toolkit's compiler or its host compiler is a wrapper. Facts about wrappers are valid only on
// this machine.
bool has_wrapper(const Toolkit& toolkit, System& system, FactStore& facts);

// Asks the wrappers among these compilers again. Returns false if an answer differs from `facts`; then it
// stores the new answer, and the caller must find the toolkits again.
bool wrappers_answer_as_known(const std::vector<Toolkit>& toolkits, const std::optional<HostCompiler>& cxx,
                              System& system, FactStore& facts);

}  // namespace dsbuild
