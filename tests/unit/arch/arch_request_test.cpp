#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "unit/arch/real_targets.h"

using namespace dsbuild;

namespace {

std::string resolve(const std::string& list, int version, const std::vector<NvidiaTarget>& gpus = {}) {
  const ArchRequest request = parse_arch_list(list, "test").value();
  const auto resolved = resolve_arch_request(request, nvidia(), load_real_targets()[version], version,
                                             {gpus.begin(), gpus.end()});
  return resolved ? target_names(*resolved) : resolved.error().code;
}

}  // namespace

// Expected: the images that `nvcc --dryrun -arch=all|all-major` of these versions puts into a fatbin.
TEST_CASE("all and all-major are what nvcc makes of them") {
  const auto [word, version, names] = GENERATE(table<std::string, int, std::string>({
      {"all", 1108,
       "sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 "
       "compute_90"},
      {"all-major", 1108, "sm_35 sm_50 sm_60 sm_70 sm_80 sm_90 compute_90"},
      {"all", 1300,
       "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 compute_120 sm_121"},
      {"all-major", 1300, "sm_75 sm_80 sm_90 sm_100 sm_110 sm_120 compute_120"},
      {"all", 1305,
       "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_107 sm_110 sm_120 compute_120 sm_121"},
      {"all-major", 1305, "sm_75 sm_80 sm_90 sm_100 sm_110 sm_120 compute_120"},
  }));
  CAPTURE(word, version);
  CHECK(resolve(word, version) == names);
}

TEST_CASE("all and named targets add up") {
  CHECK(resolve("all-major;9.0a+PTX", 1300) ==
        "sm_75 sm_80 sm_90 sm_90a compute_90a sm_100 sm_110 sm_120 compute_120");
}

TEST_CASE("native is the visible GPUs, with PTX of the highest") {
  CHECK(resolve("native", 1300, {{{9, 0}}}) == "sm_90 compute_90");
  CHECK(resolve("native", 1300, {{{9, 0}}, {{10, 0}}, {{9, 0}}}) == "sm_90 sm_100 compute_100");
  CHECK(resolve("native;8.0", 1300, {{{9, 0}}}) == "sm_80 sm_90 compute_90");
}

TEST_CASE("native without a GPU cannot be met") {
  const auto resolved =
      resolve_arch_request(parse_arch_list("native", "test").value(), nvidia(), {}, 1300, {});
  REQUIRE_FALSE(resolved);
  CHECK(resolved.error().code == "no_gpu");
  CHECK(resolved.error().exit == Exit::unmet);
}

TEST_CASE("Without a request the default list of the toolkit's version is taken") {
  ArchRequest request;
  request.is_default = true;
  const auto [version, list] = GENERATE(table<int, std::string>({
      {1102, "7.0;7.5;8.0+PTX"},
      {1108, "7.0;7.5;8.0;8.6;8.9;9.0+PTX"},
      {1204, "7.0;7.5;8.0;8.6;8.9;9.0+PTX"},
      {1208, "7.0;7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"},
      {1209, "7.0;7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"},
      {1300, "7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"},
      {1305, "7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"},
  }));
  CAPTURE(version);
  const auto resolved = resolve_arch_request(request, nvidia(), {}, version, {});
  REQUIRE(resolved);
  CHECK(arch_list(*resolved) == list);
}

TEST_CASE("Each CUDA version can target its own default list") {
  for (const auto& [version, targets] : load_real_targets()) {
    CAPTURE(version);
    CHECK(arch_text(difference(nvidia().default_of(version), targets)) == "none");
    CHECK_FALSE(nvidia().default_of(version).empty());
  }
}
