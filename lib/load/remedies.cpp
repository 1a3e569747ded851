#include "load/remedies.h"

#include <array>
#include <regex>
#include <string_view>

namespace dsbuild {
namespace {

struct Remedy {
  std::string_view library;  // its name, or the beginning of it
  const char* command;
};

// The first that fits. CUDA's own libraries come with torch, and with NVIDIA's packages for each version;
// SYCL's runtime with oneAPI, and with Intel's package on PyPI, which puts it where no loader looks.
constexpr std::array k_remedies = {
    Remedy{"libgomp.so.1", "apt-get install libgomp1"},
    Remedy{"libaio.so.1", "apt-get install libaio1 (libaio1t64 from Debian 13 and Ubuntu 24.04 on)"},
    Remedy{"libstdc++.so.6", "apt-get install libstdc++6"},
    Remedy{"libgcc_s.so.1", "apt-get install libgcc-s1"},
    Remedy{"libatomic.so.1", "apt-get install libatomic1"},
    Remedy{"libnuma.so.1", "apt-get install libnuma1"},
    Remedy{"libcuda.so.1", "the NVIDIA driver has it: docker run --gpus all, or apt-get install libcuda1"},
    Remedy{"libcufile.so.0", "apt-get install libcufile-<CUDA version>, from NVIDIA's repository"},
    Remedy{"libcudart.so.11.0", "apt-get install cuda-cudart-11-8, from NVIDIA's repository"},
    Remedy{"libcudart.so.12", "pip install nvidia-cuda-runtime-cu12, or the torch that has it"},
    Remedy{"libcudart.so.13", "pip install nvidia-cuda-runtime, or the torch that has it"},
    Remedy{"libtvm_ffi.so", "pip install apache-tvm-ffi"},
    Remedy{"libsycl.so.7",
           "source setvars.sh of oneAPI 2024, or pip install 'intel-sycl-rt==2024.*' and name its lib folder "
           "in LD_LIBRARY_PATH"},
    Remedy{"libsycl.so.8",
           "source setvars.sh of oneAPI 2025, or pip install 'intel-sycl-rt==2025.*' and name its lib folder "
           "in LD_LIBRARY_PATH"},
    Remedy{"libsycl.so.9",
           "source setvars.sh of oneAPI 2026, or pip install 'intel-sycl-rt==2026.*' and name its lib folder "
           "in LD_LIBRARY_PATH"},
    Remedy{"libtorch", "pip install torch, of the version that the op was built for"},
    Remedy{"libc10", "pip install torch, of the version that the op was built for"},
};

// What stands in the first group, "" where nothing fits.
std::string found_in(const std::string& text, const char* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : "";
}

}  // namespace

std::string remedy_of_library(const std::string& name) {
  for (const Remedy& remedy : k_remedies)
    if (name.starts_with(remedy.library)) return remedy.command;
  return "";
}

std::map<std::string, std::string> remedies_of(const std::vector<std::string>& libraries) {
  std::map<std::string, std::string> remedies;
  for (const std::string& library : libraries)
    if (const std::string remedy = remedy_of_library(library); !remedy.empty()) remedies[library] = remedy;
  return remedies;
}

std::string remedy_of(const std::string& why) {
  const std::string missing = found_in(why, R"(([^\s/:]+): cannot open shared object file)");
  std::string known = remedy_of_library(missing);
  if (!known.empty()) return known;
  if (!missing.empty())
    return "Install the package that has " + missing + ", or name its folder in LD_LIBRARY_PATH.";
  const std::string package = found_in(why, R"(No module named '(\w+))");
  if (package == "tvm_ffi") return "pip install apache-tvm-ffi, or name the Python that has it: --python.";
  if (!package.empty()) return "pip install " + package + ", or name the Python that has it: --python.";
  if (why.find("it is built for the Python") != std::string::npos)
    return "Name that Python: --python; or build it again for this one.";
  const std::string version = found_in(why, R"(version `(\w+_[\d.]+)' not found)");
  if (!version.empty()) return "Build it on a system that is as old as this one: " + version + " is newer.";
  return "Build it again, against the libraries that it is loaded with (--python).";
}

}  // namespace dsbuild
