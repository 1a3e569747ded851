// What one sliced edge runs, as a file in the build folder that is named by its content: build.ninja stays
// small, and an edge's command changes exactly when what it runs does.
#pragma once

#include "slices/nvcc_commands.h"

namespace dsbuild {

// `preprocess` of a step runs in the build folder and gives text; each later command runs beside its files.
struct StepFile {
  std::string part;  // "front", "compute_80", "host", "fatbin"
  Environment environment;
  Words preprocess;             // front and device parts
  std::vector<Words> commands;  // what is made of the text
  // Of the outputs and inputs, what follows the unit's name: {".compute_80.ptx", ".compute_80.cubin"}.
  // Any of the outputs may be the edge's own.
  std::vector<std::string> inputs, outputs;
  bool keeps_positions = false;  // outputs depend on where code stands in its files (lib/slices/positions.h)
  Words nvcc;                    // the whole command without archs and source, for people
  bool operator==(const StepFile&) const = default;
};

// Pure. Lines of a word and a shell-quoted rest.
std::string render_step_file(const StepFile& step);
StepFile parse_step_file(std::string_view text);

// The steps of one translation unit: front, one of each device arch, host, fatbin.
std::vector<StepFile> plan_steps(const NvccCommands& commands, const Words& nvcc);

// Says which tools run, so that what others made is never taken for theirs: written with the plan.
inline constexpr const char* k_tools_file = "tools/nvcc.id";
inline constexpr const char* k_cxx_file = "tools/cxx.id";
inline constexpr const char* k_torch_file = "tools/torch.id";

// The stub's file as the host compile includes it; every device part writes its own.
inline constexpr const char* k_stub_end = ".cudafe1.stub.c";

// What stands for the build folder in line information and in the host's debug information, unless a file
// beside the unit's outputs says another: objects are the same in every folder.
inline constexpr const char* k_folder_in_objects = "/dsbuild";
inline constexpr const char* k_folder_in_objects_end = ".folder";

// Beside a unit's outputs: its module id, and the value of __CUDA_ARCH_LIST__.
inline constexpr const char* k_module_id_end = ".module_id";
inline constexpr const char* k_arch_list_end = ".arch_list";

// Beside a precompiled header: for how many of its users it pays, and a line for each user, its command.
inline constexpr const char* k_users_end = ".users";

}  // namespace dsbuild
