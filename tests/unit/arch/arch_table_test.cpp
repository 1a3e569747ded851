#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "unit/arch/real_targets.h"

using namespace dsbuild;

namespace {

std::string versions_for(const std::string& list) {
  return cuda_versions_for(parse_arch_list(list, "test").value().targets);
}

}  // namespace

TEST_CASE("The table gives each CUDA version the targets that its own tools list") {
  for (const auto& [version, targets] : load_real_targets()) {
    CAPTURE(version);
    CHECK(target_names(targets_of_cuda(version)) == target_names(targets));
  }
}

TEST_CASE("The table is in ascending order, each CC once") {
  const auto& rows = arch_table();
  for (size_t i = 1; i < rows.size(); ++i)
    CHECK(rows[i - 1].cc < rows[i].cc);
}

TEST_CASE("The CUDA versions that target a whole set are named") {
  const auto [list, versions] = GENERATE(table<std::string, std::string>({
      // DeepSpeed's documentation example.
      {"6.0 6.1 7.0 7.5 8.0 8.6 9.0 10.0+PTX", "CUDA 12.8 to 12.9"},
      {"7.0;8.0+PTX", "CUDA 11.0 to 12.9"},
      {"3.5;9.0", "CUDA 11.8"},
      {"3.5;9.0a", ""},
      {"9.0a", "CUDA 12.0 and newer"},
      {"10.0a", "CUDA 12.8 and newer"},
      {"10.0f", "CUDA 12.9 and newer"},
      {"10.1f", "CUDA 12.9"},
      {"11.0", "CUDA 13.0 and newer"},
      {"7.0;11.0", ""},
      {"Rubin", "CUDA 13.4 and newer"},
      {"8.8", "CUDA 13.0 and newer"},
  }));
  CAPTURE(list);
  CHECK(versions_for(list) == versions);
}

TEST_CASE("No CUDA version is named for nothing, or for what the table does not know") {
  CHECK(cuda_versions_for({}).empty());
  CHECK(cuda_versions_for({NvidiaTarget{{99, 0}}}).empty());
  CHECK(cuda_versions_for({NvidiaTarget{{8, 0}, Suffix::a}}).empty());
}
