// Kernels of what nvcc really writes. Golden: cuobjdump --dump-resource-usage, ptxas -v for spills, readelf
// for sizes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <regex>

#include "nvcc_sample.h"
#include "resource_words.h"
#include "support/sample.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

constexpr const char* k_source = R"(
#include <cstdio>
__device__ __noinline__ float heavy(float* a, int i) {
  float t[40];
  for (int j = 0; j < 40; j++) t[j] = a[j * i];
  float s = 0;
  for (int j = 0; j < 40; j++) s += t[(j * i) % 40];
  return s;
}
template <class T> __global__ void plain(T* a) { a[threadIdx.x] += 1; }
template __global__ void plain<float>(float*);
template __global__ void plain<double>(double*);
__global__ void with_shared(float* a) {
  __shared__ float s[300];
  extern __shared__ float d[];
  s[threadIdx.x] = a[0];
  d[threadIdx.x] = a[1];
  __syncthreads();
  a[0] = s[5] + d[4];
}
__global__ void calls(float* a, int n) { a[0] = heavy(a, n); }
__constant__ float table[100];
__global__ void constants(float* a, int n) { a[0] = table[n]; }
__global__ void __launch_bounds__(1024, 2) spills(double* a, int n) {
  double t[32];
#pragma unroll
  for (int j = 0; j < 32; j++) t[j] = a[j * n];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 32; j++) t[j] = t[j] * t[(j * 7 + 3) % 32] + t[(j * 5 + 1) % 32];
#pragma unroll
  for (int j = 0; j < 32; j++) a[j] = t[j];
}
__global__ void prints(int n) { printf("%d\n", n); }
static __global__ void hidden(float* a) { a[0] = 5; }
void go() { hidden<<<1, 1>>>(0); }
)";

std::string real_cuobjdump() {
  const char* program = std::getenv("DSBUILD_CUOBJDUMP");
  if (!program || !std::filesystem::exists(program)) WARN("skipped: no cuobjdump (DSBUILD_CUOBJDUMP)");
  return program && std::filesystem::exists(program) ? program : "";
}

std::vector<ImageKernels> kernels_of(const Path& file) {
  const std::string bytes = bytes_of(file);
  const auto found = read_kernels(MemoryBytes(as_bytes_of(bytes)), file.string());
  INFO(file);
  REQUIRE(found);
  return *found;
}

// By name: "4280 5496", stores and loads. Of "Function properties for NAME", then "… spill stores, … loads".
std::map<std::string, std::string> spills_said_by_ptxas(const std::string& text) {
  static const std::regex k_spills(R"((\d+) bytes spill stores, (\d+) bytes spill loads)");
  std::map<std::string, std::string> spills;
  std::string function;
  for (const std::string& line : split_lines(text)) {
    const size_t at = line.find("Function properties for ");
    if (at != std::string::npos) function = line.substr(at + 24);
    std::smatch match;
    if (std::regex_search(line, match, k_spills)) spills[function] = match[1].str() + " " + match[2].str();
  }
  return spills;
}

// Of `readelf -SW`: the sizes of the sections ".text.NAME".
std::map<std::string, uint64_t> sizes_said_by_readelf(const std::string& text) {
  static const std::regex k_code(R"(\.text\.(\S+)\s+PROGBITS\s+\S+ \S+ (\S+))");
  std::map<std::string, uint64_t> sizes;
  for (const std::string& line : split_lines(text)) {
    std::smatch match;
    if (std::regex_search(line, match, k_code))
      sizes[match[1].str()] = std::stoull(match[2].str(), nullptr, 16);
  }
  return sizes;
}

}  // namespace

TEST_CASE("What kernels take is what cuobjdump says, however nvcc stored them", "[nvcc]") {
  const std::string cuobjdump = real_cuobjdump();
  for (const Nvcc& nvcc : nvccs()) {
    if (cuobjdump.empty()) return;
    const Sample sample(nvcc, k_source);
    const bool is_old = nvcc.major < 12;
    // For 9.0 and newer cuobjdump 13.5 says "REG:0" of __device__ functions that are left to a device link,
    // although it lists what their attributes say.
    const std::string linkable = "-c -rdc=true" + gencodes({is_old ? "sm_70" : "sm_75", "sm_80"});
    const std::string archs = gencodes(
        is_old ? std::vector<std::string>{"sm_70", "sm_80", "sm_90"}
               : std::vector<std::string>{"sm_75", "sm_80", "sm_90a", "sm_100", "sm_120f", "compute_120"});
    const std::vector<std::string> ways =
        is_old ? std::vector<std::string>{"-fatbin -Xfatbin -compress-all" + archs, linkable}
               : std::vector<std::string>{"-fatbin --compress-mode=none" + archs,
                                          "-fatbin --compress-mode=speed" + archs,
                                          "-c --compress-mode=size" + archs, linkable};
    for (const std::string& way : some_of(ways, 2)) {
      INFO(nvcc.program << " " << way);
      const Path file = sample.make(way.starts_with("-c") ? "a.o" : "a.fatbin", way);
      const std::string said =
          output_of("'" + cuobjdump + "' --dump-resource-usage '" + file.string() + "'", sample.temp);
      const ResourceList golden = said_of_resources(said);
      CHECK(golden.size() >= 20);
      CHECK(found_of_resources(kernels_of(file)) == golden);
    }
  }
}

TEST_CASE("Bytes of spills are those of ptxas -v, sizes those of readelf", "[nvcc]") {
  for (const Nvcc& nvcc : nvccs()) {
    const Sample sample(nvcc, k_source);
    for (const std::string arch : {"sm_80", "sm_90"}) {
      INFO(nvcc.program << " " << arch);
      const Path cubin = sample.make("a.cubin", "-cubin -Xptxas -v -arch=" + arch);
      const auto spills = spills_said_by_ptxas(bytes_of(sample.temp.path() / "output.err"));
      const auto sizes =
          sizes_said_by_readelf(output_of("readelf -SW '" + cubin.string() + "'", sample.temp));
      REQUIRE(spills.contains("_Z6spillsPdi"));
      CHECK(spills.at("_Z6spillsPdi") != "0 0");
      const std::vector<ImageKernels> images = kernels_of(cubin);
      REQUIRE(images.size() == 1);
      CHECK(images[0].kernels.size() == sizes.size());
      for (const Kernel& kernel : images[0].kernels) {
        INFO(kernel.name);
        CHECK(kernel.bytes == sizes.at(kernel.name));
        CHECK(kernel.is_entry);
        const auto stores = kernel.resources.spill_stores, loads = kernel.resources.spill_loads;
        if (nvcc.major < 13) {
          CHECK_FALSE(stores.has_value());
        } else {
          REQUIRE(stores.has_value());
          CHECK(std::to_string(*stores) + " " + std::to_string(loads.value_or(0)) == spills.at(kernel.name));
        }
      }
    }
  }
}
