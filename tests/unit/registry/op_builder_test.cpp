#include "base/args.h"
#include "spec_world.h"

namespace dsbuild {
namespace {

const std::string k_spec = R"(name: x
sources:
  - b.cpp
  - {path: a.cu, flags: {nvcc: [-lineinfo], cxx: [-g]}, for: {T: [half]}}
  - {path: bwd/one.cu, when: {cuda: ">=12.0"}}
include_dirs: [include, {value: bwd, for: nvcc}]
defines: {Z: 1, A: , S: {value: 2, when: {any_arch: 9.0a}}}
std: {cxx: 20, nvcc: 17}
flags:
  cxx: [-O3, {value: -mavx2, when: {cpu: x86_64}}]
  nvcc: [--use_fast_math]
  link: [-pthread]
libraries: [cublasLt, {value: curand, when: {cuda: "<12.0"}}]
needs: [w, v]
exports: [x_run, x_free]
requires: [{cuda: ">=11.0"}, {cpu: avx2, when: {cpu: x86_64}}]
archs: {min: 8.0}
)";

OpBuilder builder() {
  return OpBuilder(SpecWorld().spec(k_spec));
}

const SourceSpec& source(const OpBuilder& op, const std::string& path) {
  for (const SourceSpec& one : op.spec().sources) {
    if (one.path == path) return one;
  }
  FAIL(path);
  return op.spec().sources[0];
}

TEST_CASE(
    "compile arguments are -std, the op's flags, the source's, the op's defines by name, those of for") {
  const OpBuilder op = builder();
  CHECK(op.nvcc_args(source(op, "a.cu"), {}) ==
        Args{"-std=c++17", "--use_fast_math", "-lineinfo", "-DA", "-DZ=1", "-DT=half"});
  CHECK(op.cxx_args(source(op, "b.cpp"), {}) == Args{"-std=c++20", "-O3", "-DA", "-DZ=1"});
}

TEST_CASE("-march=baseline stands for the flags of the CPU level, in its place") {
  const OpBuilder op(
      SpecWorld().spec("name: x\nsources: [b.cpp, a.cu]\nflags: {cxx: [-O3, -march=baseline, -g]}\n"));
  WhenContext context;
  context.cpu_level.flags = {"-mavx2", "-mfma"};
  CHECK(op.cxx_args(source(op, "b.cpp"), context) == Args{"-std=c++17", "-O3", "-mavx2", "-mfma", "-g"});
  CHECK(op.uses_cpu_level(source(op, "b.cpp"), context));
  CHECK_FALSE(op.uses_cpu_level(source(op, "a.cu"), context));
}

TEST_CASE("without std an op is compiled by the standard that is usual for its kind") {
  const OpBuilder op(SpecWorld().spec("name: x\nsources: [b.cpp, a.cu]\nstd: {nvcc: 17}\n"));
  WhenContext context;
  context.usual_std = 20;
  CHECK(op.cxx_args(source(op, "b.cpp"), context) == Args{"-std=c++20"});
  CHECK(op.nvcc_args(source(op, "a.cu"), context) == Args{"-std=c++17"});
}

TEST_CASE("an entry counts where its condition holds") {
  const OpBuilder op = builder();
  WhenContext context;
  context.cpu = "x86_64";
  context.archs = {parse_target_name("sm_90a").value()};
  CHECK(op.cxx_args(source(op, "b.cpp"), context) ==
        Args{"-std=c++20", "-O3", "-mavx2", "-DA", "-DS=2", "-DZ=1"});
  CHECK(op.requirements(context).size() == 2);
  CHECK(op.requirements({}).size() == 1);
  context.cuda = parse_version("11.8").value();
  CHECK(op.extra_ldflags(context) == Args{"-pthread", "-lcublasLt", "-lcurand"});
  CHECK(op.sources(context).size() == 2);
  context.cuda = parse_version("12.0").value();
  CHECK(op.extra_ldflags(context) == Args{"-pthread", "-lcublasLt"});
  CHECK(op.sources(context).size() == 3);
}

TEST_CASE("the builder answers with the words of DeepSpeed's OpBuilder") {
  const OpBuilder op = builder();
  CHECK(op.name() == "x");
  CHECK(op.absolute_name() == "");
  CHECK(op.include_paths({}) == Args{"include", "bwd"});
  CHECK(op.include_paths({}, k_for_nvcc) == Args{"include", "bwd"});
  CHECK(op.include_paths({}, k_for_cxx) == Args{"include"});
  CHECK(op.needs({}) == Args{"v", "w"});
  CHECK(op.exports({}) == Args{"x_free", "x_run"});
  CHECK(target_names(
            op.filter_archs({parse_target_name("sm_75").value(), parse_target_name("sm_80").value()}).kept) ==
        "sm_80");
}

TEST_CASE("of a list of conditions one must hold, and the first says why none does") {
  const OpBuilder op(
      SpecWorld().spec("name: x\nsources: [a.cu]\ndefines:\n  B: {when: [{every_arch: \">=8.0\"}, "
                       "{every_arch: \">=7.5\", cuda: "
                       "\">=13\"}], feature: bf16}\n"));
  WhenContext context;
  const auto off = [&](const std::string& archs, const std::string& cuda) {
    context.archs = parse_arch_list(archs, "test")->targets;
    context.cuda = *parse_version(cuda);
    return join(op.features_off(context), ";");
  };
  CHECK(off("8.0;9.0+PTX", "11.8") == "");
  CHECK(off("7.5;8.0", "13.0") == "");
  CHECK(off("7.0;7.5;8.0+PTX", "11.8") == "bf16: off (7.0, 7.5 in the list)");
  CHECK(off("7.0;8.0", "13.0") == "bf16: off (7.0 in the list)");
  context.archs.clear();
  CHECK(op.features_off(context) == std::vector<std::string>{"bf16: off (no arch in the list)"});
}

TEST_CASE("a feature says which condition its define misses") {
  const auto off = [](const std::string& when) {
    const OpBuilder op(
        SpecWorld().spec("name: x\nsources: [a.cu]\ndefines:\n  B: {when: " + when + ", feature: f}\n"));
    WhenContext context;
    context.archs = parse_arch_list("8.0", "test")->targets;
    context.cuda = *parse_version("11.8");
    context.cpu = "x86_64";
    context.cpu_level.name = "x86-64-v3";
    context.cpu_level.number = *parse_version("3");
    return join(op.features_off(context), ";");
  };
  CHECK(off("{any_arch: 9.0a}") == "f: off (no 9.0a in the list)");
  CHECK(off("{cuda: \">=12\"}") == "f: off (CUDA 11.8)");
  CHECK(off("{torch: \">=2\"}") == "f: off (unknown version of torch)");
  CHECK(off("{cpu: aarch64}") == "f: off (not on aarch64)");
  CHECK(off("{cpu_level: \">=4\"}") == "f: off (CPU level x86-64-v3)");
}

}  // namespace
}  // namespace dsbuild
