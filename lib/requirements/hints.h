// Makes the advice for an unmet requirement.
#pragma once

#include <string>

#include "registry/op_spec.h"
#include "sys/system.h"

namespace dsbuild {

// The key of `hint:` for this machine: its package tool on PATH, else "".
std::string package_tool(const System& system);

// The hint for that tool as a command, else the plain hint, else a sentence for its kind.
std::string fix_for(const Requirement& requirement, const std::string& tool);

}  // namespace dsbuild
