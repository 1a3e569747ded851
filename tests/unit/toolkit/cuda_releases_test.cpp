#include "machine.h"

namespace dsbuild {
namespace {

using Homes = std::vector<std::string>;

const Path k_packages = "/venv/lib/python3.11/site-packages";
const Path k_pip = k_packages / "nvidia/cu13";
const Path k_conda = "/conda";

// A machine whose toolkit is all of 13.0, put there by pip or conda.
struct PackagedMachine : Machine {
  explicit PackagedMachine(const Path& home) : home_(home) {
    add_compiler("/usr/bin/g++", gcc_says("11.4.0"));
    add_toolkit(home, "13.0", "lib");
    set("VIRTUAL_ENV", "/venv");
    set("CONDA_PREFIX", k_conda.string());
    if (home == k_conda) files.add_directory(k_conda / "conda-meta");
  }
  std::string reason() {
    const Toolkits toolkits = find();
    CHECK(toolkits.found.size() + toolkits.rejected.size() == 1);
    return toolkits.rejected.empty() ? "" : toolkits.rejected.front().reason;
  }
  void exchange(const char* program) { set_release(home_ / program, toolkit_data("11.8")); }

 private:
  Path home_;
};

const std::string k_mixed = "its parts are of different releases: bin/nvcc 13.0, ";

TEST_CASE("a toolkit whose parts are all of one release is used") {
  CHECK(PackagedMachine(k_pip).reason().empty());
  CHECK(PackagedMachine(k_conda).reason().empty());
}

TEST_CASE("a program of another release is named, with the package to pin") {
  PackagedMachine machine(k_pip);
  machine.exchange("nvvm/bin/cicc");
  CHECK(machine.reason() == k_mixed +
                                "bin/ptxas 13.0, nvvm/bin/cicc 11.8, cuda_runtime_api.h 13.0; "
                                "pip install 'nvidia-nvvm==13.0.*'");
  PackagedMachine other(k_pip);
  other.exchange("bin/ptxas");
  CHECK(other.reason() == k_mixed +
                              "bin/ptxas 11.8, nvvm/bin/cicc 13.0, cuda_runtime_api.h 13.0; "
                              "pip install 'nvidia-cuda-nvcc==13.0.*'");
}

TEST_CASE("headers of another release are named") {
  PackagedMachine machine(k_pip);
  machine.set_headers(k_pip / "include", "13.5");
  const std::string mix =
      k_mixed + "bin/ptxas 13.0, nvvm/bin/cicc 13.0, cuda_runtime_api.h 13.5; pip install ";
  CHECK(machine.reason() == mix + "'nvidia-cuda-runtime==13.0.*'");
  INFO("torch asks for its release of the headers, so the compiler has to follow");
  machine.files.add_file(k_packages / "torch/version.py", "");
  CHECK(machine.reason() == mix + "'nvidia-cuda-nvcc==13.5.*' 'nvidia-nvvm==13.5.*'");
}

TEST_CASE("headers that tell no release count by their package") {
  PackagedMachine machine(k_pip);
  machine.files.add_directory(k_packages / "nvidia_cuda_crt-13.5.37.dist-info");
  CHECK(machine.reason() ==
        k_mixed +
            "bin/ptxas 13.0, nvvm/bin/cicc 13.0, cuda_runtime_api.h 13.0, crt/host_config.h 13.5; "
            "pip install 'nvidia-cuda-crt==13.0.*'");
}

TEST_CASE("conda is asked for one release of all") {
  PackagedMachine machine(k_conda);
  machine.files.add_file(k_conda / "conda-meta/cuda-crt-dev_linux-64-13.5.37-ha770c72_0.json", "{}");
  CHECK(machine.reason() ==
        k_mixed +
            "bin/ptxas 13.0, nvvm/bin/cicc 13.0, cuda_runtime_api.h 13.0, crt/host_config.h 13.5; "
            "conda install cuda-nvcc cuda-version=13.0");
}

TEST_CASE("a part that a package would bring is missing") {
  PackagedMachine machine(k_pip);
  REQUIRE(machine.files.remove_all(k_pip / "nvvm"));
  CHECK(machine.reason() == "it has no nvvm/bin/cicc; pip install 'nvidia-nvvm==13.0.*'");
  REQUIRE(machine.files.remove_all(k_pip / "include"));
  CHECK(machine.reason() ==
        "it has no nvvm/bin/cicc, no cuda_runtime_api.h, no crt/host_config.h; pip install "
        "'nvidia-nvvm==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*'");
}

TEST_CASE("a folder that no package made may have its parts elsewhere, and is to be of one release too") {
  PackagedMachine machine("/usr/local/cuda-13.0");
  REQUIRE(machine.files.remove_all("/usr/local/cuda-13.0/nvvm"));
  CHECK(machine.reason().empty());
  machine.exchange("bin/ptxas");
  CHECK(machine.reason() ==
        k_mixed + "bin/ptxas 11.8, cuda_runtime_api.h 13.0; install one release of CUDA whole");
}

TEST_CASE("a mixed toolkit is passed over where another serves") {
  PackagedMachine machine(k_conda);
  machine.add_toolkit(k_pip, "13.0", "lib");
  machine.exchange("nvvm/bin/cicc");
  const Toolkits toolkits = machine.find();
  CHECK(homes(toolkits) == Homes{"pip " + k_pip.string()});
  REQUIRE(toolkits.rejected.size() == 1);
  CHECK(toolkits.rejected.front().home == k_conda);
}

TEST_CASE("conda's headers, libraries and stubs are found below targets") {
  PackagedMachine machine(k_conda);
  const Path target = k_conda / "targets/x86_64-linux";
  REQUIRE(machine.files.remove_all(k_conda / "include"));
  REQUIRE(machine.files.remove_all(k_conda / "lib"));
  machine.files.add_file(k_conda / "include/zlib.h", "");
  machine.set_headers(target / "include", "13.0");
  machine.files.add_file(target / "include/crt/host_config.h", "");
  machine.files.add_file(target / "include/cccl/nv/target", "");
  machine.files.add_file(target / "lib/libcudart_static.a", "");
  machine.files.add_file(target / "lib/stubs/libcuda.so", "");
  const Toolkits toolkits = machine.find();
  REQUIRE(toolkits.found.size() == 1);
  const Toolkit& toolkit = toolkits.found.front();
  CHECK(toolkit.include_dir() == target / "include");
  CHECK(toolkit.cccl_folder == target / "include/cccl");
  CHECK(toolkit.library_dir == target / "lib");
  CHECK(toolkit.stubs_dir == target / "lib/stubs");
}

}  // namespace
}  // namespace dsbuild
