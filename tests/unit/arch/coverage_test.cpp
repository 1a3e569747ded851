#include "arch/coverage.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "arch/arch_entries.h"
#include "arch/nvidia.h"
#include "arch/vendor.h"
#include "base/text.h"
#include "real_targets.h"

using namespace dsbuild;

namespace {

ArchSet archs(const std::string& list) {
  return parse_arch_entries(list, "test")->targets;
}

std::string codes(const Result<std::vector<Target>>& gpus) {
  std::string text;
  for (const Target& gpu : gpus.value())
    text += (text.empty() ? "" : " ") + gpu.text();
  return text;
}

}  // namespace

// CUDA C++ Programming Guide, "Binary Compatibility" (same major, this minor or a higher one), "PTX
// Compatibility" (this CC or a higher one), "Feature Set Compiler Targets" (a: exactly this CC; f: the
// family); Blackwell tuning guide: an sm_100 cubin does not run on 12.0. A library of several images: the
// driver takes machine code that fits before it compiles PTX.
TEST_CASE("Every name of a GPU that completion offers is taken") {
  for (const Vendor* vendor : vendors())
    for (const ArchWord& name : vendor->gpu_names()) {
      CAPTURE(name.word);
      CHECK(codes(parse_gpus(name.word, "--gpu", {})) == name.meaning);
    }
}

TEST_CASE("A library runs where NVIDIA's compatibility rules say, by the image nearest to the GPU") {
  struct Row {
    const char *library, *gpu, *outcome;
  };
  const Row row = GENERATE(values<Row>({
      {"8.0", "8.0", "native (sm_80)"},
      {"8.0", "8.6", "native (sm_80)"},
      {"8.0;8.6", "8.6", "native (sm_86)"},
      {"8.0;8.6", "8.9", "native (sm_86)"},
      {"8.6", "8.0", "will not run"},
      {"8.0", "9.0", "will not run"},
      {"8.0+PTX", "9.0", "by PTX (compute_80)"},
      {"7.0+PTX;8.0+PTX", "12.0", "by PTX (compute_80)"},
      {"8.0+PTX", "7.5", "will not run"},
      {"7.0;8.0-virtual", "8.0", "by PTX (compute_80)"},
      {"9.0a", "9.0", "native (sm_90a)"},
      {"9.0;9.0a", "9.0", "native (sm_90a)"},
      {"9.0a+PTX", "10.0", "will not run"},
      {"9.0a+PTX;8.0+PTX", "10.0", "by PTX (compute_80)"},
      {"10.0f", "10.3", "native (sm_100f)"},
      {"10.0f;10.0", "10.3", "native (sm_100f)"},
      {"10.0f;10.0a", "10.0", "native (sm_100a)"},
      {"10.0f;10.0a", "10.3", "native (sm_100f)"},
      {"10.0f", "12.0", "will not run"},
      {"10.0", "12.0", "will not run"},
      {"10.3f", "10.0", "will not run"},
      {"12.0f", "12.1", "native (sm_120f)"},
  }));
  CAPTURE(row.library, row.gpu);
  const Target gpu = parse_gpus(row.gpu, "test", {})->front();
  CHECK(coverage_of(archs(row.library), gpu).text() == row.outcome);
}

TEST_CASE("A library without device images runs on no GPU") {
  const Target hopper = NvidiaTarget{{9, 0}};
  CHECK(coverage_of({}, hopper) == Coverage{hopper, Runs::not_at_all, std::nullopt});
}

TEST_CASE(
    "Whatever the library: the image that runs is one of its own, and one more image takes nothing away") {
  ArchSet all;
  for (const auto& [version, targets] : load_real_targets())
    all = union_of(all, targets);
  for (const Target& first : all)
    for (const Target& second : all)
      for (const Target& gpu : nvidia().known_gpus()) {
        const Coverage alone = coverage_of({first}, gpu);
        const Coverage both = coverage_of({first, second}, gpu);
        CAPTURE(first.name(), second.name(), gpu.text());
        REQUIRE(both.runs <= alone.runs);
        REQUIRE(both.by.has_value() == (both.runs != Runs::not_at_all));
        if (both.by) REQUIRE((*both.by == first || *both.by == second));
      }
}

TEST_CASE("GPUs are named as archs are") {
  CHECK(codes(parse_gpus("9.0, sm_86;80", "--gpu", {})) == "8.0 8.6 9.0");
  CHECK(codes(parse_gpus("9.0a+PTX", "--gpu", {})) == "9.0");
  CHECK(codes(parse_gpus("native,7.0", "--gpu", {NvidiaTarget{{8, 9}}, NvidiaTarget{{9, 0}}})) ==
        "7.0 8.9 9.0");
  CHECK(parse_gpus("all", "--gpu", {})->size() == arch_table().size());
  CHECK(codes(parse_gpus("H100,rtx-4090 MI300X;10.0", "--gpu", {})) == "gfx942 8.9 9.0 10.0");
  CHECK(codes(parse_gpus("NVIDIA-H100-PCIe", "--gpu", {})) == "9.0");
  CHECK_FALSE(parse_arch_list("H100", "--arch"));  // the name of a GPU says not what to build
}

TEST_CASE("What names no GPU is refused") {
  const std::vector<Target> no_gpu;
  const auto unknown = parse_gpus("8.6,9.9", "--gpu", no_gpu);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == "unknown_arch");
  CHECK(unknown.error().where == "--gpu");
  const auto native = parse_gpus("native", "--gpu", no_gpu);
  REQUIRE_FALSE(native);
  CHECK(native.error().code == "no_gpu");
  CHECK(native.error().where == "--gpu");
}

namespace {

struct FitRow {
  std::string library;
  std::vector<std::string> cells;  // in the order of the GPUs
};

// tests/unit/arch/data/fit.txt: the GPUs of its last comment, and a row for each library.
std::pair<std::vector<std::string>, std::vector<FitRow>> load_fit_table() {
  std::ifstream file(std::string(DSBUILD_TESTS_DIR) + "/unit/arch/data/fit.txt");
  std::vector<std::string> gpus;
  std::vector<FitRow> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> words = split(line, " ");
    if (words.size() > 2 && words[0] == "#" && words[1] == "library")
      gpus.assign(words.begin() + 2, words.end());
    if (words.empty() || words[0] == "#") continue;
    rows.push_back({words[0], {words.begin() + 1, words.end()}});
  }
  return {gpus, rows};
}

}  // namespace

TEST_CASE("A library of several modules runs where each of them does, as the table written by hand says") {
  const auto [gpus, rows] = load_fit_table();
  REQUIRE(gpus.size() >= 8);
  REQUIRE(rows.size() >= 12);
  for (const FitRow& row : rows) {
    REQUIRE(row.cells.size() == gpus.size());
    std::vector<ArchSet> modules;
    for (const std::string& module : split(row.library, "|"))
      modules.push_back(archs(module));
    for (size_t i = 0; i < gpus.size(); ++i) {
      const Coverage coverage = coverage_of_modules(modules, parse_gpus(gpus[i], "test", {})->front());
      CAPTURE(row.library, gpus[i]);
      CHECK((coverage.by ? coverage.by->name() : "-") == row.cells[i]);
      CHECK(coverage.by.has_value() == (coverage.runs != Runs::not_at_all));
    }
  }
}

TEST_CASE("Modules without images do not count, and a library of none runs on no GPU") {
  const Target hopper = NvidiaTarget{{9, 0}};
  CHECK(coverage_of_modules({{}, archs("9.0"), {}}, hopper).text() == "native (sm_90)");
  CHECK(coverage_of_modules({archs("9.0"), {}, archs("8.0")}, hopper).module == 2);
  CHECK(coverage_of_modules({{}, {}}, hopper).runs == Runs::not_at_all);
  CHECK(coverage_of_modules({}, hopper).runs == Runs::not_at_all);
}

TEST_CASE("Modules are counted by what runs of them, each by itself") {
  const auto text = [](const std::vector<std::string>& modules, const std::string& gpu) {
    std::vector<ArchSet> sets;
    for (const std::string& module : modules)
      sets.push_back(module.empty() ? ArchSet() : archs(module));
    return text_of(count_modules(sets, parse_gpus(gpu, "test", {})->front()));
  };
  CHECK(text({"8.0", "9.0"}, "8.0") == "1 module by sm_80, 1 not at all");
  CHECK(text({"8.0", "9.0"}, "9.0") == "1 module by sm_90, 1 not at all");
  CHECK(text({"8.0,8.6", "8.6", "8.6,8.9"}, "8.9") == "2 modules by sm_86, 1 by sm_89");
  CHECK(text({"8.0+PTX", "8.0", "", "10.0"}, "10.0") ==
        "1 module by sm_100, 1 by PTX of compute_80, 1 not at all");
  CHECK(text({"", ""}, "9.0") == "");
}
