#include "arch/amd.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "arch/coverage.h"
#include "arch_data.h"

using namespace dsbuild;

namespace {

Target target(const std::string& id) {
  CAPTURE(id);
  return amd().parse_name(id).value();
}

std::string fix_of(const std::string& entry) {
  const auto request = parse_arch_list(entry, "--arch");
  REQUIRE(!request);
  return request.error().code + ": " + request.error().fix;
}

}  // namespace

TEST_CASE("A target ID is read with its features in any order and written in clang's") {
  CHECK(target("gfx90a").text() == "gfx90a");
  CHECK(target("gfx90a:xnack-:sramecc+").name() == "gfx90a:sramecc+:xnack-");
  CHECK(target("gfx9-4-generic").flag() == "--offload-arch=gfx9-4-generic");
  CHECK(target("gfx90a").image_kind() == "code-object");
  CHECK(target("gfx90a:xnack+").plain() == target("gfx90a"));
  CHECK(target("gfx90a:xnack+").gpu() == target("gfx90a:xnack+"));
  for (const char* wrong :
       {"gfx9", "gfx90A", "gfx90a:", "gfx90a::xnack+", "gfx90a:xnack", "gfx90a:xnack+:xnack-",
        "gfx1100:xnack+", "gfx900:sramecc+", "gfx1250:xnack+", "sm_80", "", ":xnack+"})
    CHECK_FALSE(amd().parse_name(wrong));
}

TEST_CASE("Every form of every processor is read back, and the order is that of the IDs' letters") {
  std::vector<std::string> names;
  for (const Target& each : targets_of_clang(22)) {
    names.push_back(each.name());
    CHECK(amd().parse_name(each.name()) == each);
    CHECK(parse_target(each.text()) == each);
    CHECK(parse_target_name(each.name()) == each);
    CHECK(amd_target_of(amd_elf_flags(each)) == each);
  }
  CHECK(std::ranges::is_sorted(names));
  CHECK(std::ranges::is_sorted(amd_processors(), {},
                               [](const AmdProcessor& row) { return std::string(row.name); }));
}

// What clang 22 wrote for each target and llvm-readelf 22 read: the file says how it is made.
TEST_CASE("The table says of each target what clang writes into its code objects") {
  const auto rows = data_lines("amd_elf_flags.txt");
  for (const std::vector<std::string>& words : rows) {
    CAPTURE(words.at(0));
    const Target known = target(words[0]);
    const auto flags = static_cast<uint32_t>(std::stoul(words.at(1), nullptr, 16));
    CHECK(amd_elf_flags(known) == flags);
    CHECK(amd_target_of(flags) == known);
    CHECK(amd_wave_size(known) == std::stoi(words.at(2)));
  }
  CHECK(rows.size() == targets_of_clang(22).size());
}

TEST_CASE("Flags that no target has are none") {
  CHECK_FALSE(amd_target_of(0xff));                            // no such machine
  CHECK_FALSE(amd_target_of(0x341));                           // gfx1100 with xnack on
  CHECK_FALSE(amd_target_of(0x0051));                          // a generic without its version
  CHECK_FALSE(amd_target_of(0x0100053f));                      // gfx90a with one
  CHECK(amd_target_of(0x02000151) == target("gfx9-generic"));  // a later version of a generic
}

// LLVM's User Guide for AMDGPU: "Target ID" and the table of generic processors.
TEST_CASE("Code runs on its own processor with its features, and a generic's on its members") {
  struct Row {
    const char *library, *gpu, *outcome;
  };
  const Row row = GENERATE(values<Row>({
      {"gfx90a", "gfx90a:sramecc+:xnack-", "native (gfx90a)"},
      {"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "native (gfx90a:xnack-)"},
      {"gfx90a:xnack+", "gfx90a:sramecc+:xnack-", "will not run"},
      {"gfx90a:xnack+;gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "native (gfx90a:xnack-)"},
      {"gfx90a:xnack+", "gfx90a", "will not run"},
      {"gfx90a", "gfx90c", "will not run"},
      {"gfx9-generic", "gfx906:sramecc+:xnack-", "by generic (gfx9-generic)"},
      {"gfx9-generic:xnack+", "gfx906:sramecc+:xnack-", "will not run"},
      {"gfx9-generic", "gfx908", "will not run"},
      {"gfx9-generic", "gfx90a", "will not run"},
      {"gfx9-4-generic;gfx942", "gfx942", "native (gfx942)"},
      {"gfx9-4-generic;gfx942", "gfx950", "by generic (gfx9-4-generic)"},
      {"gfx10-1-generic", "gfx1013", "by generic (gfx10-1-generic)"},
      {"gfx10-1-generic", "gfx1030", "will not run"},
      {"gfx10-3-generic", "gfx1036", "by generic (gfx10-3-generic)"},
      {"gfx11-generic", "gfx1153", "by generic (gfx11-generic)"},
      {"gfx12-generic", "gfx1201", "by generic (gfx12-generic)"},
      {"gfx12-generic", "gfx1250", "will not run"},
      {"gfx1100", "gfx1101", "will not run"},
      {"gfx942", "9.0", "will not run"},
      {"9.0+PTX", "gfx942", "will not run"},
  }));
  CAPTURE(row.library, row.gpu);
  const Target gpu = parse_gpus(row.gpu, "--gpu", {})->front();
  CHECK(coverage_of(parse_arch_list(row.library, "--arch")->targets, gpu).text() == row.outcome);
}

TEST_CASE("Modules are counted by the way in which they run") {
  const ArchSet generic{target("gfx9-generic")}, own{target("gfx906")};
  CHECK(text_of(count_modules({generic, own, own}, target("gfx906"))) ==
        "2 modules by gfx906, 1 by generic gfx9-generic");
  CHECK(coverage_of_modules({own, generic}, target("gfx906")).text() == "by generic (gfx9-generic)");
}

TEST_CASE("Of one processor all targets of a list name a feature, or none does") {
  const auto conflict = [](const std::string& list) {
    const auto request = parse_arch_list(list, "--arch");
    return request ? "" : request.error().code + ": " + request.error().what;
  };
  for (const char* fine : {"gfx90a;gfx942", "gfx90a:xnack+;gfx90a:xnack-", "gfx9-4-generic;gfx942:xnack+",
                           "gfx90a:xnack+:sramecc+ gfx90a:xnack+:sramecc-", "gfx90a,gfx90a"})
    CHECK(conflict(fine).empty());
  CHECK(conflict("gfx90a;gfx90a:xnack+") ==
        "conflicting_archs: 'gfx90a' and 'gfx90a:xnack+' cannot be in one library: of one processor either "
        "every "
        "target names a feature, or none does");
  CHECK_FALSE(conflict("gfx90a:xnack+;gfx90a:sramecc+").empty());
  CHECK_FALSE(conflict("gfx90a:xnack+:sramecc+;gfx90a:xnack-").empty());
  CHECK(parse_gpus("gfx90a,gfx90a:xnack+", "--gpu", {})->size() == 2);
  ArchRequest request = parse_arch_list("native,gfx90a:xnack+", "--arch").value();
  const auto resolved =
      resolve_arch_request(request, amd(), targets_of_clang(22), 2200, {target("gfx90a:xnack+")});
  REQUIRE(!resolved);
  CHECK(resolved.error().code == "conflicting_archs");
}

TEST_CASE("A misspelt entry of AMD's is answered with the nearest that there is") {
  const auto starts = [](const std::string& entry, const std::string& start) {
    CHECK(fix_of(entry).starts_with("unknown_arch: " + start));
  };
  starts("gfx943", "did you mean 'gfx940'?");
  starts("gfx9-5-generic", "did you mean 'gfx9-4-generic'?");
  starts("gfx90b:xnack+", "did you mean 'gfx900:xnack+'?");
  starts("MI300X", "did you mean 'gfx942'?");
  starts("rx-7900-xtx", "did you mean 'gfx1100'?");
  starts("gfx90a:xnack", "gfx90a may be followed by :sramecc+ or :sramecc-, and :xnack+ or :xnack-");
  starts("gfx900:sramecc+", "gfx900 may be followed by :xnack+ or :xnack-");
  starts("gfx1100:xnack+", "gfx1100 takes no features");
  starts("h100", "did you mean '9.0'?");
  starts("gfx", "known processors of AMD: gfx10-1-generic ");
}

TEST_CASE("The words of a list stand for what AMD's compilers can make") {
  const ArchSet targets = targets_of_clang(22);
  const ArchSet all = amd().all_of(targets, false);
  CHECK(all.count(target("gfx942")) == 1);
  CHECK(all.count(target("gfx9-4-generic")) + all.count(target("gfx600")) +
            all.count(target("gfx942:xnack+")) ==
        0);
  CHECK(arch_list(amd().all_of(targets, true)) ==
        "gfx10-1-generic;gfx10-3-generic;gfx11-generic;gfx12-generic;gfx1250;gfx1251;gfx700;gfx701;gfx702;"
        "gfx703;"
        "gfx704;gfx705;gfx801;gfx802;gfx803;gfx805;gfx810;gfx9-4-generic;gfx9-generic;gfx908;gfx90a");
  CHECK(arch_list(amd().default_of(2201)) ==
        "gfx1030;gfx1100;gfx1101;gfx1102;gfx1200;gfx1201;gfx908;gfx90a;gfx942;gfx950");
  CHECK(arch_list(amd().native_of({target("gfx90a:sramecc+:xnack-")})) == "gfx90a");
  for (const int clang : {13, 15, 17, 18, 20, 22})
    CHECK(difference(amd().default_of(clang * 100), targets_of_clang(clang)).empty());
}

TEST_CASE("The versions of clang that target a whole set are named") {
  const auto versions = [](const std::string& list) {
    return amd().toolkits_for(parse_arch_list(list, "--arch")->targets);
  };
  CHECK(versions("gfx90a") == "clang 13 and newer");
  CHECK(versions("gfx90a;gfx950") == "clang 20 and newer");
  CHECK(versions("gfx940;gfx942") == "clang 17 to 20");
  CHECK(versions("gfx940;gfx1250").empty());
  CHECK(amd().toolkits_for({}).empty());
}
