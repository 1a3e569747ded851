// The programs that the fake tools are.
#pragma once

#include "base.h"

namespace fake {

// `program`: as it was started.
int run_nvcc(const std::string& program, const Words& argv);
// `name`: cudafe++, cicc, ptxas or fatbinary.
int run_step(const std::string& name, const std::string& program, const Words& argv);
bool is_step(const std::string& name);
// As g++.
int run_compiler(const Words& argv);

}  // namespace fake
