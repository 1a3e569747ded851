// What nvcc does for a .cu, taken apart: each command that it would run itself, as its own dry run prints it.
// Learnt once for a set of flags and targets, with a stand-in for the source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/args.h"
#include "exec/roots.h"
#include "sys/system.h"

namespace dsbuild {

// Stand-ins in learnt commands. All files between two steps are called <k_any_unit>.…, the source
// k_any_source.
inline constexpr const char* k_any_unit = "dsbuild_tu";
inline constexpr const char* k_any_source = "pack/dsbuild_tu.cu";
inline constexpr const char* k_any_seed = "dsbuild_seed";            // of -frandom-seed
inline constexpr const char* k_any_path = "dsbuild_path";            // the caller's PATH, in `environment`
inline constexpr const char* k_arch_list = "-D__CUDA_ARCH_LIST__=";  // its value is the translation unit's

// The word after an option; "" where the option is not there.
std::string value_of(const Args& words, std::string_view option);
bool has_word(const Args& words, std::string_view word);
// Whether one of the options, or of those that nvcc is to hand on (-Xcompiler=-a,-b), begins so.
bool has_option(const Args& command, const Args& beginnings);

// One virtual arch: preprocess → compile (cicc: PTX and the host's stub) → assemble (ptxas, for each real
// arch).
struct DeviceCommands {
  std::string arch;  // "compute_80"
  Args preprocess;
  Args compile;
  std::vector<Args> assemble;  // one without "-o FILE" only checks
  bool operator==(const DeviceCommands&) const = default;
};

struct NvccCommands {
  Environment environment;              // what nvcc gives its tools besides its own
  Args host_preprocess, front_end;      // front_end: cudafe++, the host's C++ with kernels taken out
  std::vector<DeviceCommands> devices;  // by name
  std::string stub_arch;                // whose stub (the kernels' registration) the host compile includes
  Args fatbinary, host_compile;
  std::string arch_list;           // "750,800"
  std::string said;                // what nvcc itself says of the command: warnings, a line each
  std::vector<std::string> order;  // the devices', as the dry run has them: that of the command's archs
  bool operator==(const NvccCommands&) const = default;
};

// Whether a device's compile writes for each instruction which line it is of, with the line's file. (With
// nvcc's -lineinfo.)
inline constexpr const char* k_line_information = "-generate-line-info";
bool has_line_information(const Args& compile);

// A flag that keeps nvcc's steps from being asked for: it has them written or timed elsewhere, or stands for
// a file of flags; "" for none.
std::string unsliceable_flag(const Args& nvcc);

// The dry run that is asked: the command without a source, with stand-ins.
Args dry_run_command(const Args& nvcc);

// The commands, or in words which line of a dry run is not understood.
using LearntCommands = tl::expected<NvccCommands, std::string>;

// Of a dry run's text. Relocatable and link-time device code have other steps, and device code for
// debuggers holds paths of the build: "has --device-c". File names that hold an arch only by nvcc's habit
// lose it, so that the host's object does not depend on the archs; and nvcc's own module id gives way to that
// of the translation unit.
LearntCommands parse_nvcc_commands(std::string_view dry_run);

// The same commands with this machine's folders by their roots.
void name_roots(NvccCommands& commands, const Roots& roots);

}  // namespace dsbuild
