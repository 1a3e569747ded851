#include "requirements/torch.h"

#include <catch2/catch.hpp>

#include "base/args.h"
#include "unit/requirements/world.h"

using namespace dsbuild;

namespace {

// A machine with CUDA 13.0 and a torch; what Python's script would say of it.
struct TorchWorld : World {
  std::string version = "2.11.0+cu130", cuda = "'13.0'", hip = "None";
  std::string std = "17", cxx11_abi = "1", abi_flags;
  BackendKind backend = BackendKind::cuda;
  std::string module = "deepspeed.ops.adam.fused_adam_op";

  TorchWorld() {
    files.add_file("/usr/bin/python3", "", true);
    files.add_file("/site/torch/include/torch/csrc/api/include/torch/all.h", "");
    files.add_file("/usr/include/python3.11/Python.h", "");
    files.add_file("/usr/local/cuda/include/cusparse.h", "");
    toolkit.host = gcc;
    toolkit.library_dir = "/usr/local/cuda/lib64";
    used_toolkit = &toolkit;
  }

  Finding ask_for(const std::string& range = ">=2.0") {
    if (files.kind("/site/torch/version.py") == FileKind::absent)
      files.add_file("/site/torch/version.py", "__version__ = '" + version + "'\ncuda: Optional[str] = " +
                                                   cuda + "\nhip: Optional[str] = " + hip + "\n");
    processes.on(
        {"python3", "torch"},
        "version=3.11.7\texecutable=/usr/bin/python3.11\ttag=cp311\t"
        "ext_suffix=.cpython-311-x86_64-linux-gnu.so\t"
        "include_dir=/usr/include/python3.11\ttorch=2.11.0\thome=/site/torch\tstd=" +
            std + "\tcxx11_abi=" + cxx11_abi + "\tabi_flags=" + abi_flags +
            "\thip_flags=-DUSE_ROCM=1 -DHIPBLAS_V2\thipcc_flags=-DCUDA_HAS_FP16=1\n/site/torch/version.py\n");
    OpSpec& spec = add_op("op" + std::to_string(++ops_), {need_version(RequirementKind::torch, range)});
    spec.module = module;
    spec.backend = backend;
    report = check();
    return report.by_op.at(spec.name).at(0);
  }

  RequirementReport report;

 private:
  int ops_ = 0;
};

Args defines(const std::string& name) {
  return {"-DTORCH_API_INCLUDE_EXTENSION_H", "-DTORCH_EXTENSION_NAME=" + name};
}

}  // namespace

// As the wheels of torch 2.8 and 2.1 have it.
TEST_CASE("torch/version.py says the versions of torch, CUDA and HIP") {
  const Torch torch = parse_torch_version_file(
      "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda']\n"
      "__version__ = '2.8.0+cu128'\ndebug = False\ncuda: Optional[str] = '12.8'\n"
      "git_version = 'a1cb3cc0'\nhip: Optional[str] = None\n");
  CHECK(torch.version == "2.8.0+cu128");
  CHECK(torch.number().text() == "2.8.0");
  CHECK(torch.cuda == "12.8");
  CHECK(torch.hip == "");
  const Torch rocm =
      parse_torch_version_file("__version__ = \"2.1.0+rocm5.6\"\ncuda = None\nhip = '5.6.31061'\n");
  CHECK(rocm.cuda == "");
  CHECK(rocm.hip == "5.6.31061");
}

TEST_CASE("A version.py of another kind says nothing") {
  const char* text = GENERATE("", "import os\n", "__version__ = read()\ncuda\n", "__version__ = '\n");
  CHECK(parse_torch_version_file(text) == Torch{});
}

// What conventions of torch.utils.cpp_extension's CUDAExtension are, flag by flag.
TEST_CASE("A CUDA extension gets what torch's own builder adds, ahead of the op's flags") {
  TorchWorld world;
  const Finding finding = world.ask_for();
  CHECK(finding.ok);
  CHECK(finding.why == "torch 2.11.0+cu130");
  const UsageRequirements& usage = finding.usage;
  CHECK(usage.base_cxx_flags == defines("fused_adam_op"));
  CHECK(usage.base_nvcc_flags == Args{"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
                                      "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
                                      "--expt-relaxed-constexpr", "-DTORCH_API_INCLUDE_EXTENSION_H",
                                      "-DTORCH_EXTENSION_NAME=fused_adam_op"});
  CHECK(usage.include_dirs ==
        Args{"/site/torch/include", "/site/torch/include/torch/csrc/api/include", "/usr/include/python3.11"});
  CHECK(usage.link_flags == Args{"-L/site/torch/lib", "-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python",
                                 "-lc10_cuda", "-ltorch_cuda"});
  CHECK(usage.std == 17);
  CHECK(usage.python_module);
  CHECK(usage.fallback_include_dirs.empty());
  CHECK(world.report.torch->python.ext_suffix == ".cpython-311-x86_64-linux-gnu.so");
}

TEST_CASE("A CPU extension is built without torch's CUDA, whatever CUDA torch has") {
  TorchWorld world;
  world.backend = BackendKind::cpu;
  world.cuda = "None";
  world.std = "20";
  const Finding finding = world.ask_for();
  CHECK(finding.ok);
  CHECK(finding.usage.std == 20);
  CHECK(finding.usage.link_flags ==
        Args{"-L/site/torch/lib", "-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python"});
}

TEST_CASE("Each extension is named after the last part of its module, and Python is started once") {
  TorchWorld world;
  world.ask_for();
  world.module = "deepspeed.ops.utils_op";
  CHECK(world.ask_for().usage.base_cxx_flags == defines("utils_op"));
  CHECK(world.processes.starts("python3") == 1);
}

TEST_CASE("The flags of the C++ ABI that an older torch passes reach both compilers") {
  TorchWorld world;
  world.abi_flags = "-DPYBIND11_COMPILER_TYPE=\"_gcc\" -D_GLIBCXX_USE_CXX11_ABI=0";
  world.cxx11_abi = "0";
  const UsageRequirements usage = world.ask_for().usage;
  CHECK(usage.base_cxx_flags[2] == "-DPYBIND11_COMPILER_TYPE=\"_gcc\"");
  CHECK(usage.base_cxx_flags[3] == "-D_GLIBCXX_USE_CXX11_ABI=0");
  CHECK(usage.base_nvcc_flags.back() == "-D_GLIBCXX_USE_CXX11_ABI=0");
  CHECK_FALSE(world.report.torch->cxx11_abi);
}

TEST_CASE("An op without a module asks for torch's version alone") {
  TorchWorld world;
  world.module = "";
  world.cuda = "None";
  const Finding finding = world.ask_for();
  CHECK(finding.ok);
  CHECK(finding.usage == UsageRequirements{});
}

TEST_CASE("Without headers of torch or Python, or with a compiler that they refuse, nothing can be built") {
  TorchWorld no_python;
  REQUIRE(no_python.files.remove_all("/usr/include/python3.11/Python.h"));
  const Finding python = no_python.ask_for();
  CHECK_FALSE(python.ok);
  CHECK(python.why == "no Python.h in /usr/include/python3.11");
  CHECK(python.fix ==
        "Install Python's headers (python3-dev, python3-devel), or name another Python with --python.");

  TorchWorld no_torch;
  REQUIRE(no_torch.files.remove_all("/site/torch/include"));
  CHECK(no_torch.ask_for().why == "torch 2.11.0+cu130 in /site/torch has no C++ headers");

  TorchWorld old;
  old.toolkit.host->version = *parse_version("8.5.0");
  CHECK(old.ask_for().why == "torch 2.11.0+cu130 needs gcc 9 or newer; /usr/bin/g++ is 8.5.0");
  TorchWorld newer;
  newer.std = "20";
  newer.toolkit.host->version = *parse_version("9.4.0");
  CHECK(newer.ask_for().why == "torch 2.11.0+cu130 needs gcc 10 or newer; /usr/bin/g++ is 9.4.0");
}

TEST_CASE("A torch without CUDA cannot have CUDA extensions") {
  TorchWorld cpu;
  cpu.version = "2.11.0+cpu";
  cpu.cuda = "None";
  CHECK(cpu.ask_for().why == "torch 2.11.0+cpu is built without CUDA");
  CHECK(cpu.report.by_op.begin()->second[0].fix ==
        "Install a torch that is built for CUDA, or name another Python with --python.");
  TorchWorld rocm;
  rocm.version = "2.11.0+rocm7.0";
  rocm.cuda = "None";
  rocm.hip = "'7.0.1'";
  CHECK(rocm.ask_for().why == "torch 2.11.0+rocm7.0 is built for ROCm 7.0.1");
}

TEST_CASE("A toolkit of another minor version of torch's CUDA is noted") {
  TorchWorld world;
  world.toolkit.version = *parse_version("13.5.37");
  const Finding finding = world.ask_for();
  CHECK(finding.ok);
  CHECK(finding.why == "torch 2.11.0+cu130; CUDA 13.5 goes with its 13.0");
  CHECK_FALSE(finding.warning);
}

TEST_CASE("A toolkit of another major version than torch's CUDA is refused, naming both and what would do") {
  TorchWorld world;
  world.toolkit.version = *parse_version("11.8.89");
  const Finding finding = world.ask_for();
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == "CUDA 11.8 does not go with torch 2.11.0+cu130, which is of CUDA 13.0");
  CHECK(
      finding.fix ==
      "Use a toolkit of CUDA 13.0 to 13.5 (--cuda-home DIR, `dsbuild toolkits get 13.5`), or a torch of CUDA "
      "11.0 to 11.8; with DS_SKIP_CUDA_CHECK=1 it is built all the same.");
}

TEST_CASE("With DS_SKIP_CUDA_CHECK=1 a toolkit of another CUDA is a warning") {
  TorchWorld world;
  world.toolkit.version = *parse_version("11.8.89");
  world.settings.skip_cuda_check = {true, "DS_SKIP_CUDA_CHECK"};
  const Finding finding = world.ask_for();
  CHECK(finding.ok);
  REQUIRE(finding.warning);
  CHECK(*finding.warning ==
        warning("cuda_mismatch", "DS_SKIP_CUDA_CHECK",
                "CUDA 11.8 does not go with torch 2.11.0+cu130, which is of CUDA 13.0",
                "Whether the ops load and run is not known: use a toolkit of CUDA 13.0 to 13.5."));
}

TEST_CASE("Headers and libraries that pip's toolkit lacks are those that torch was installed with") {
  TorchWorld world;
  REQUIRE(world.files.remove_all("/usr/local/cuda/include/cusparse.h"));
  world.files.add_file("/usr/local/cuda/lib64/libcudart.so.13", "");
  world.files.add_file("/usr/local/cuda/lib64/libnvrtc.so", "");
  world.files.add_file("/usr/local/cuda/lib64/libnvrtc.so.13", "");
  world.files.add_file("/site/nvidia/cu13/include/cusparse.h", "");
  world.files.add_file("/site/nvidia/cu13/lib/libcurand.so.10", "");
  const UsageRequirements usage = world.ask_for().usage;
  CHECK(usage.fallback_include_dirs == Args{"/site/nvidia/cu13/include"});
  CHECK(usage.fallback_link_flags == Args{"-L/site/nvidia/cu13/lib"});
  CHECK(usage.library_files ==
        std::map<std::string, std::string>{{"cudart", "libcudart.so.13"}, {"curand", "libcurand.so.10"}});
}

TEST_CASE("an extension for ROCm has what torch's builder passes there, and its libraries") {
  TorchWorld world;
  world.version = "2.11.0+rocm6.3";
  world.cuda = "None";
  world.hip = "'6.3.42134'";
  world.backend = BackendKind::hip;
  world.toolkit.family = &k_hip_family;
  world.toolkit.home = "/opt/rocm";
  const Finding finding = world.ask_for();
  REQUIRE(finding.ok);
  const UsageRequirements& usage = finding.usage;
  CHECK(usage.base_hip_flags == Args{"-DUSE_ROCM=1", "-DHIPBLAS_V2", "-DCUDA_HAS_FP16=1",
                                     "-DTORCH_API_INCLUDE_EXTENSION_H",
                                     "-DTORCH_EXTENSION_NAME=fused_adam_op"});
  CHECK(usage.base_cxx_flags == Args{"-DTORCH_API_INCLUDE_EXTENSION_H",
                                     "-DTORCH_EXTENSION_NAME=fused_adam_op", "-DUSE_ROCM=1", "-DHIPBLAS_V2"});
  CHECK(usage.link_flags == Args{"-L/site/torch/lib", "-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python",
                                 "-lc10_hip", "-ltorch_hip"});
  CHECK(usage.fallback_include_dirs == Args{"/opt/rocm/include"});
}

TEST_CASE("a torch without ROCm builds no extension for it") {
  TorchWorld world;
  world.backend = BackendKind::hip;
  CHECK(world.ask_for().why == "torch 2.11.0+cu130 is built for CUDA 13.0");
  TorchWorld of_cpu;
  of_cpu.version = "2.11.0+cpu";
  of_cpu.cuda = "None";
  of_cpu.backend = BackendKind::hip;
  CHECK(of_cpu.ask_for().why == "torch 2.11.0+cpu is built without ROCm");
}

TEST_CASE("torch's hipify is found in any torch, and known by its files") {
  TorchWorld world;
  world.ask_for();
  const auto ask = [&] {
    OpSpec& spec = world.add_op("ported", {need(RequirementKind::hipify, {})});
    spec.backend = BackendKind::hip;
    spec.sources = {SourceSpec{}};
    spec.sources[0].hipify = true;
    return world.check().by_op.at("ported").at(0);
  };
  CHECK(ask().why == "torch 2.11.0+cu130 has no utils/hipify/hipify_python.py in /site/torch");
  world.files.add_file("/site/torch/utils/hipify/hipify_python.py", "def hipify(): pass\n");
  world.files.add_file("/site/torch/utils/hipify/version.py", "__version__ = '2.0.0'\n");
  world.files.add_file("/site/torch/utils/hipify/notes.txt", "no module");
  const Finding first = ask();
  REQUIRE(first.usage.hipify);
  CHECK(first.why == "hipify 2.0.0 of torch 2.11.0+cu130");
  CHECK(first.usage.hipify->python == "/usr/bin/python3.11");
  CHECK(first.usage.hipify->package == "/site/torch/utils/hipify");
  CHECK(split_lines(first.usage.hipify->identity).front() == "hipify 2.0.0 by Python 3.11.7");
  CHECK(first.usage.hipify->identity.find("notes") == std::string::npos);
  world.files.add_file("/site/torch/utils/hipify/hipify_python.py", "def hipify(): return\n");
  CHECK(ask().usage.hipify->identity != first.usage.hipify->identity);
}
