// Makes a pack of a project with a setup.py, for `new --from` and `build DIR`.
#pragma once

#include "command.h"
#include "project/project.h"

namespace dsbuild {

// Calls write_project. Prints that the project's code will run if it does, and what the pack lacks of the
// project. Errors: those of write_project.
Result<WrittenProject> pack_of_project(const NamedProject& project, const Path& pack_folder,
                                       const Settings& settings, const CommandContext& context);

// The operand and the option of commands that take a project's folder.
Operands project_operand(const std::string& verb);
Option extensions_option();

// For `build DIR` and `plan DIR`: returns the command line with --pack and --ops set for that folder. If the
// folder has no pack, makes one next to the build folder. Without requested archs, takes those of the
// project's flags. Errors: exit 2 `bad_option`; exit 1 `bad_project` if a module would not be complete; those
// of pack_of_project.
Result<CommandLine> line_for_project(const CommandContext& context);

// For `build --inplace`: copies each module of the bundle to the place in the sources where Python finds it.
// Returns the new paths.
Result<std::vector<std::string>> put_in_place(const Path& bundle, const Settings& settings, System& system);

}  // namespace dsbuild
