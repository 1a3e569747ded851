// The build that comes after a command, as its "next:" line says it: with the options that the user gave, and
// without taking away what is in a bundle already.
#pragma once

#include "command.h"
#include "project/new_op.h"
#include "project/project.h"
#include "settings/workload.h"

namespace dsbuild {

std::string build_and_test(const NewOp& made, const Settings& settings, const System& system);
std::string build_of_project(const WrittenProject& written, const Settings& settings, const System& system);
// One for each pack; `file`: where the workload is.
std::vector<std::string> builds_of_workload(const Workload& workload, const std::string& file,
                                            const Settings& settings, const System& system);

}  // namespace dsbuild
