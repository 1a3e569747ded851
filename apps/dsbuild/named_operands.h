// Interprets the operands of build, plan and cache, as in `dsbuild ./mypack scale`.
#pragma once

#include "command.h"

namespace dsbuild {

struct NamedOperands {
  std::string pack;     // as --pack takes it; "": none is named
  std::string project;  // a folder with a setup.py or the like, or an archive of one; "": none
  std::string ops;      // as --ops takes it; "": none is named
};

// Operands are a pack or a project, and ops of it. Errors: exit 2 `bad_option` if an operand names nothing or
// is ambiguous; those of load_registry.
Result<NamedOperands> named_operands(const CommandContext& context);

}  // namespace dsbuild
