// Cubins with other names against those that ptxas writes for these names.
#include "binary/elf_names.h"

#include <catch2/catch.hpp>
#include <map>

#include "nvcc_sample.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

// Names in symbols, in sections, and one kernel without them; NAME has its length before it when mangled.
constexpr const char* k_named = R"(
__constant__ float plain_table[5];
namespace NAME {
struct part { double x; };
__device__ int variable = 3;
__device__ float bias = 2;
__device__ __noinline__ float deep(float x) { return x * bias; }
template <class T> __global__ void k(T* a) {
  __shared__ T s[64];
  static __device__ int calls;
  s[threadIdx.x].x = a[0].x + variable + deep(a[1].x) + ++calls;
  __syncthreads();
  a[0].x = sin(s[threadIdx.x ^ 1].x);
}
template __global__ void k<part>(part*);
}
__global__ void plain(float* a) { a[threadIdx.x] = plain_table[threadIdx.x % 5] + NAME::deep(a[2]); }
)";

std::string source_of(const std::string& name) {
  return replace_all(k_named, "NAME", name);
}

std::string mangled(const std::string& name) {
  return std::to_string(name.size()) + name;
}

std::string cubin(const Nvcc& nvcc, const std::string& source, const std::string& arch) {
  const Sample sample(nvcc, source);
  return bytes_of(sample.make("a.cubin", "-cubin -arch=" + arch));
}

std::map<std::string, std::string> cubins_by_name(const Nvcc& nvcc, const std::string& arch) {
  std::map<std::string, std::string> made;
  for (const char* name : {"named", "given", "with_a_longer_name", "n"})
    made[name] = cubin(nvcc, source_of(name), arch);
  return made;
}

}  // namespace

TEST_CASE("elf: a cubin with other names is what ptxas writes for them, or none", "[nvcc]") {
  for (const Nvcc& nvcc : nvccs()) {
    int renamed = 0;
    for (const std::string arch : {"sm_75", "sm_80", "sm_90"}) {
      const auto cubins = cubins_by_name(nvcc, arch);
      for (const auto& [mine, other] : std::vector<std::pair<std::string, std::string>>{
               {"named", "given"}, {"named", "with_a_longer_name"}, {"with_a_longer_name", "n"}}) {
        const std::string& before = cubins.at(mine);
        const std::string& after = cubins.at(other);
        const auto changed = with_elf_names(before, [&, from = mine, to = other](std::string_view name) {
          return std::optional(replace_all(std::string(name), mangled(from), mangled(to)));
        });
        CAPTURE(nvcc.program, arch, mine, other);
        if (!changed) continue;
        CHECK((*changed == after));
        CHECK((*changed != before));
        ++renamed;
      }
    }
    CHECK(renamed >= 6);  // what CUDA 13.0 writes for sm_90 has room for names that it dropped
  }
}

TEST_CASE("elf: a damaged file has no other names", "[nvcc]") {
  if (nvccs().empty()) return;
  const std::string whole = cubin(nvccs().front(), source_of("named"), "sm_80");
  const OtherName longer = [](std::string_view name) {
    return std::string(name) + (name.empty() ? "" : "x");
  };
  REQUIRE(with_elf_names(whole, longer));
  CHECK_FALSE(with_elf_names("", longer));
  CHECK_FALSE(with_elf_names(whole, [](std::string_view) { return std::nullopt; }));
  for (size_t size = 0; size < whole.size(); size += 7)
    CHECK_FALSE(with_elf_names(whole.substr(0, size), longer));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)with_elf_names(damaged, longer);  // under the sanitizers: nothing outside of it is read
  }
}
