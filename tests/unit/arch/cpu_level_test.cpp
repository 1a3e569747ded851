#include "arch/cpu_level.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

// /proc/cpuinfo of a Haswell (Xeon E5 v3) and of a Skylake-SP, what matters of them.
const std::string k_haswell =
    "abm aes avx avx2 bmi1 bmi2 cx16 f16c fma lahf_lm movbe pclmulqdq pni popcnt sse4_1 sse4_2 ssse3 xsave";
const std::string k_skylake = k_haswell + " avx512bw avx512cd avx512dq avx512f avx512vl";

Result<CpuLevel> level_of(const std::string& name, const std::string& machine = "x86_64",
                          const std::string& features = k_haswell) {
  return find_cpu_level(name, "--cpu-baseline", machine, features);
}

}  // namespace

// The psABI's table of levels, by its own words: v3 is AVX2, BMI1/2, F16C, FMA, LZCNT, MOVBE, OSXSAVE.
TEST_CASE("x86-64-v3 is the psABI's level of that name, in flags that gcc 10 knows") {
  const CpuLevel level = level_of("x86-64-v3").value();
  CHECK(level.number.text() == "3");
  CHECK(join(level.flags, " ") ==
        "-march=x86-64 -mcx16 -msahf -mpopcnt -msse3 -mssse3 -msse4.1 -msse4.2 -mavx -mavx2 -mbmi -mbmi2 "
        "-mf16c -mfma -mlzcnt -mmovbe -mxsave");
  CHECK(join(level.features, " ") ==
        "abm avx avx2 bmi1 bmi2 cx16 f16c fma lahf_lm movbe pni popcnt sse4_1 sse4_2 ssse3 xsave");
}

TEST_CASE("without a name the level is x86-64-v3, and armv8.2-a on aarch64") {
  CHECK(level_of("").value().name == "x86-64-v3");
  CHECK(level_of("", "aarch64").value().name == "armv8.2-a");
  CHECK(level_of("armv8.2-a", "aarch64").value().flags == std::vector<std::string>{"-march=armv8.2-a"});
  CHECK(level_of("armv8.2-a", "aarch64").value().number.text() == "8.2");
}

TEST_CASE("native is the highest level that the CPU has all features of") {
  CHECK(level_of("native", "x86_64", k_haswell).value().name == "x86-64-v3");
  CHECK(level_of("native", "x86_64", k_skylake).value().name == "x86-64-v4");
  CHECK(level_of("native", "x86_64", "avx avx2 fma").value().name == "x86-64");
  CHECK(level_of("native", "aarch64", "asimd").value().name == "armv8-a");
}

TEST_CASE("a level of another machine, or of none, is refused with those there are") {
  const Error error = level_of("x86-64-v5").error();
  CHECK(error.exit == Exit::usage);
  CHECK(error.code == "bad_choice");
  CHECK(error.where == "--cpu-baseline");
  CHECK(error.what == "'x86-64-v5' is not a CPU level of x86_64 (did you mean 'x86-64-v2'?)");
  CHECK(error.fix == "Choose native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4.");
  CHECK(level_of("x86-64-v3", "aarch64").error().fix == "Choose native, armv8-a, armv8.2-a, armv9-a.");
}

TEST_CASE("what a CPU lacks of a level is named") {
  CHECK(missing_features({"avx", "avx2", "fma"}, "avx sse2") == std::vector<std::string>{"avx2", "fma"});
  CHECK(missing_features({}, "").empty());
  // A word within another is not that word.
  CHECK(missing_features({"avx"}, "avx2 avx512f") == std::vector<std::string>{"avx"});
}
