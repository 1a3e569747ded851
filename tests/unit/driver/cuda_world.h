// The pack and compiler of BuildWorld with one CUDA op, and a toolkit that is made up
// (tests/fakes/toolkit/tools/nvcc.cpp), of CUDA 13.0 by its answers.
#pragma once

#include "unit/driver/build_world.h"

namespace dsbuild {

struct CudaWorld : BuildWorld {
  Path home = folder.path() / "toolkit";

  // `steps`: it can be sliced.
  explicit CudaWorld(bool steps = true) {
    const Path answers = Path(DSBUILD_TESTS_DIR) / "unit/toolkit/data/cuda-13.0";
    for (const char* program : {"nvcc", "cudafe++", "cicc", "ptxas", "fatbinary"})
      if (steps || std::string(program) == "nvcc") install(program);
    for (const char* answer : {"help.txt", "version.txt"})
      copy(answers / answer, answer);
    copy(answers / "include/crt/host_config.h", "include/crt/host_config.h");
    for (const char* header : {"cuda_runtime.h", "cuda_runtime_api.h"})
      write(std::string("toolkit/include/") + header, "#pragma once\n");
    write("toolkit/lib64/libcudart_static.a", "!<arch>\n");
    behave(steps ? "\"steps\": true, \"text\": true" : "");
    write("pack/scale/op.yaml", "name: scale\nsources: [scale.cu]\nexports: [scale_run]\n");
    write("pack/src/scale.cu", "// export: scale_run\n__global__ void scale() {}\n");
    settings.cuda_home = {home, "--cuda-home"};
    settings.accelerator = {};
    ask_for("8.0;9.0+PTX");
  }

  // Words of fake.json.
  void behave(const std::string& words) { write("toolkit/fake.json", "{" + words + "}"); }
  void ask_for(const std::string& archs) {
    settings.arch = {parse_arch_list(archs, "--arch").value(), "--arch"};
  }

 private:
  void install(const std::string& program) {
    std::filesystem::create_directories(home / "bin");
    std::filesystem::copy_file(DSBUILD_FAKE_TOOLS, home / "bin" / program);
  }
  void copy(const Path& from, const std::string& to) {
    std::filesystem::create_directories((home / to).parent_path());
    std::filesystem::copy_file(from, home / to);
  }
};

}  // namespace dsbuild
