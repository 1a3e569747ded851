// The build command in a command's "next:" line. It repeats the user's options, and removes no op from an
// existing bundle.
#pragma once

#include "command.h"
#include "project/new_op.h"
#include "project/project.h"
#include "settings/workload.h"

namespace dsbuild {

std::string build_and_test(const NewOp& made, const Settings& settings, const System& system);
std::string build_of_project(const WrittenProject& written, const Settings& settings, const System& system);
// One command for each pack. `file`: the path of the workload.
std::vector<std::string> builds_of_workload(const Workload& workload, const std::string& file,
                                            const Settings& settings, const System& system);

}  // namespace dsbuild
