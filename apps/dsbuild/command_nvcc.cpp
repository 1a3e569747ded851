// `dsbuild nvcc …`: nvcc, with its compiles from the cache or in slices.
#include "command.h"
#include "wrapper/launch_nvcc.h"

namespace dsbuild {
namespace {

Result<int> run_nvcc(const CommandContext& context) {
  return launch_nvcc(context.line.operands, context.system, context.data_dir);
}

}  // namespace

CommandRow nvcc_command() {
  return {.name = "nvcc",
          .help = "Run nvcc, with compiles from the cache or in slices",
          .run = run_nvcc,
          .examples = {{"dsbuild nvcc -O3 -arch=sm_90 -c a.cu -o a.o", "the object that nvcc makes"},
                       {"dsbuild nvcc /opt/cuda/bin/nvcc -c a.cu", "that nvcc, as launchers name it"}},
          .operands = Operands{"ARGS", "ARGS", "nvcc's own arguments; the first may be the path of an nvcc"},
          .reads_settings = false,
          .reads_project_file = false};
}

}  // namespace dsbuild
