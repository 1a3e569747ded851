// A project with a setup.py as a pack: what `new --from` and `build DIR` share.
#pragma once

#include "command.h"
#include "project/project.h"

namespace dsbuild {

// Says that the project's code is run, where it is, and what of it is not in the pack; as write_project.
Result<WrittenProject> pack_of_project(const NamedProject& project, const Path& pack_folder,
                                       const Settings& settings, const CommandContext& context);

// Of the commands that take a project's folder.
Operands project_operand(const std::string& verb);
Option extensions_option();

// `build DIR`, `plan DIR`: the command line as if the pack of that folder, made beside the build folder where
// it has none, had been named. The archs are those of the project's flags where none are asked for. Errors:
// exit 2 `bad_option`, and those of pack_of_project.
Result<CommandLine> line_for_project(const CommandContext& context);

// `build --inplace`: each module of the bundle into the sources, where Python finds it beside its package.
// Their paths.
Result<std::vector<std::string>> put_in_place(const Path& bundle, const Settings& settings, System& system);

}  // namespace dsbuild
