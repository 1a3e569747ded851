// `dsbuild open-library FILE`: opens a library, for those that must survive it (lib/load/trial_load.h).
#include <cstdlib>

#include "command.h"
#include "load/trial_load.h"
#include "sys/shared_library.h"

namespace dsbuild {
namespace {

// The process ends here and now: what the library does at an exit is no part of opening it.
Result<int> run_open_library(const CommandContext& context) {
  std::string why = "no library is named";
  const auto library =
      context.line.operands.empty() ? std::nullopt : SharedLibrary::open(context.line.operands.front(), &why);
  if (library)
    DSBUILD_CHECK(print_result(std::string(k_opened) + "\n"));
  else
    print_message(why + "\n");
  std::_Exit(library ? 0 : static_cast<int>(Exit::failed));
}

}  // namespace

CommandRow open_library_command() {
  return {.name = "open-library",
          .help = "Open a library in a process of its own",
          .run = run_open_library,
          .operands = Operands{"file", "FILE", "The library", 1},
          .hidden = true};
}

}  // namespace dsbuild
