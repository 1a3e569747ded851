#include <catch2/catch.hpp>

#include "arch/nvidia.h"

using namespace dsbuild;

namespace {

Target real(int major, int minor, Suffix suffix = Suffix::none) {
  return NvidiaTarget{{major, minor}, suffix, CodeKind::real};
}
Target ptx(int major, int minor, Suffix suffix = Suffix::none) {
  return NvidiaTarget{{major, minor}, suffix, CodeKind::ptx};
}

}  // namespace

TEST_CASE("A target has nvcc's name, its virtual arch, a dotted form and a gencode flag") {
  struct Row {
    Target target;
    std::string name, virtual_name, dotted, gencode;
  };
  const Row row = GENERATE(
      Row{real(7, 0), "sm_70", "compute_70", "7.0", "-gencode=arch=compute_70,code=sm_70"},
      Row{ptx(8, 0), "compute_80", "compute_80", "8.0-virtual", "-gencode=arch=compute_80,code=compute_80"},
      Row{real(9, 0, Suffix::a), "sm_90a", "compute_90a", "9.0a", "-gencode=arch=compute_90a,code=sm_90a"},
      Row{ptx(12, 0, Suffix::f), "compute_120f", "compute_120f", "12.0f-virtual",
          "-gencode=arch=compute_120f,code=compute_120f"});
  CHECK(row.target.name() == row.name);
  CHECK(virtual_name(row.target) == row.virtual_name);
  CHECK(row.target.text() == row.dotted);
  CHECK(row.target.flag() == row.gencode);
  CHECK(parse_target_name(row.name) == row.target);
  CHECK(parse_target(row.dotted) == row.target);
}

TEST_CASE("What is not a name of nvcc's for one target is refused") {
  const std::string name = GENERATE("", "sm_", "sm_9", "sm_08", "sm_1000", "sm_80b", "sm_90aa", "lto_80",
                                    "all", "80", "compute_", "SM_80", "sm_8.0", "sm_80 ", "sm_a");
  CAPTURE(name);
  CHECK(parse_target_name(name) == std::nullopt);
}

TEST_CASE("Targets are ordered by number, then suffix, then real before PTX") {
  const ArchSet set{ptx(10, 0),
                    real(10, 0),
                    real(8, 0),
                    ptx(8, 0),
                    real(9, 0, Suffix::a),
                    real(10, 0, Suffix::f),
                    ptx(9, 0, Suffix::a),
                    ptx(9, 0),
                    real(9, 0),
                    real(10, 0, Suffix::a)};
  CHECK(target_names(set) ==
        "sm_80 compute_80 sm_90 compute_90 sm_90a compute_90a sm_100 compute_100 sm_100a sm_100f");
}

TEST_CASE("A set is printed with real and PTX of one architecture as one word") {
  const ArchSet set{real(7, 0),          real(8, 0), ptx(8, 0), ptx(9, 0), real(9, 0, Suffix::a),
                    ptx(9, 0, Suffix::a)};
  CHECK(arch_strings(set) == std::vector<std::string>{"7.0", "8.0+PTX", "9.0-virtual", "9.0a+PTX"});
  CHECK(arch_text(set) == "7.0 8.0+PTX 9.0-virtual 9.0a+PTX");
  CHECK(arch_list(set) == "7.0;8.0+PTX;9.0-virtual;9.0a+PTX");
}

TEST_CASE("An empty set is printed as none, and as an empty list") {
  CHECK(arch_text({}) == "none");
  CHECK(arch_list({}).empty());
  CHECK(target_names({}).empty());
  CHECK(arch_strings({}).empty());
}

TEST_CASE("Sets meet, part and join") {
  const ArchSet a{real(7, 0), real(8, 0), ptx(8, 0)};
  const ArchSet b{real(8, 0), ptx(8, 0), real(9, 0)};
  CHECK(intersection(a, b) == ArchSet{real(8, 0), ptx(8, 0)});
  CHECK(difference(a, b) == ArchSet{real(7, 0)});
  CHECK(union_of(a, b) == ArchSet{real(7, 0), real(8, 0), ptx(8, 0), real(9, 0)});
}

// CUDA programming guide: "binary compatibility", "PTX compatibility", "feature set compiler targets".
TEST_CASE("Code runs where NVIDIA's compatibility rules say") {
  const auto [target, gpu, runs] = GENERATE(table<Target, NvidiaTarget, Runs>({
      // Real code: the same major, this minor or a later one.
      {real(8, 0), {{8, 0}}, Runs::natively},
      {real(8, 0), {{8, 6}}, Runs::natively},
      {real(8, 6), {{8, 0}}, Runs::not_at_all},
      {real(8, 0), {{9, 0}}, Runs::not_at_all},
      {real(9, 0), {{8, 9}}, Runs::not_at_all},
      // PTX: this CC and every later one.
      {ptx(8, 0), {{8, 0}}, Runs::by_driver},
      {ptx(8, 0), {{12, 1}}, Runs::by_driver},
      {ptx(8, 0), {{7, 5}}, Runs::not_at_all},
      // a: this CC alone, as PTX too.
      {real(9, 0, Suffix::a), {{9, 0}}, Runs::natively},
      {ptx(9, 0, Suffix::a), {{9, 0}}, Runs::by_driver},
      {ptx(9, 0, Suffix::a), {{10, 0}}, Runs::not_at_all},
      {real(10, 0, Suffix::a), {{10, 3}}, Runs::not_at_all},
      // f: the family, from this minor on.
      {real(10, 0, Suffix::f), {{10, 0}}, Runs::natively},
      {real(10, 0, Suffix::f), {{10, 3}}, Runs::natively},
      {ptx(10, 0, Suffix::f), {{10, 3}}, Runs::by_driver},
      {real(10, 3, Suffix::f), {{10, 0}}, Runs::not_at_all},
      {real(10, 0, Suffix::f), {{10, 1}}, Runs::not_at_all},
      {real(10, 0, Suffix::f), {{11, 0}}, Runs::not_at_all},
      {ptx(10, 0, Suffix::f), {{12, 0}}, Runs::not_at_all},
      {real(11, 0, Suffix::f), {{11, 0}}, Runs::natively},
      {real(12, 0, Suffix::f), {{12, 1}}, Runs::natively},
      {real(12, 1, Suffix::f), {{12, 0}}, Runs::not_at_all},
  }));
  CAPTURE(target.name(), gpu.cc.text());
  CHECK(runs_on(target, gpu) == runs);
}

TEST_CASE("A set runs the best way that one of its targets offers") {
  const ArchSet set{real(8, 0), ptx(8, 0)};
  CHECK(runs_on(set, real(8, 6)) == Runs::natively);
  CHECK(runs_on(set, real(9, 0)) == Runs::by_driver);
  CHECK(runs_on(set, real(7, 5)) == Runs::not_at_all);
  CHECK(runs_on(ArchSet{}, real(9, 0)) == Runs::not_at_all);
}
