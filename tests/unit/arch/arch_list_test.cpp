#include "arch/arch_list.h"

#include <catch2/catch.hpp>

#include "base/text.h"

using namespace dsbuild;

namespace {

// The targets of a list, by nvcc's names.
std::string targets_of(const std::string& list) {
  const auto request = parse_arch_list(list, "--arch");
  if (!request) return request.error().code + ": " + request.error().what + " | " + request.error().fix;
  CHECK(request->explicit_only());
  return target_names(request->targets);
}

Error error_of(const std::string& list) {
  const auto request = parse_arch_list(list, "--arch");
  REQUIRE_FALSE(request);
  CHECK(request.error().exit == Exit::usage);
  CHECK(request.error().where == "--arch");
  return request.error();
}

}  // namespace

TEST_CASE("Every spelling of one architecture is read") {
  const auto [list, names] = GENERATE(table<std::string, std::string>({
      {"8.0", "sm_80"},
      {"80", "sm_80"},
      {"sm_80", "sm_80"},
      {"SM_80", "sm_80"},
      {"80-real", "sm_80"},
      {"8.0-real", "sm_80"},
      {"compute_80", "compute_80"},
      {"8.0-virtual", "compute_80"},
      {"80-virtual", "compute_80"},
      {"8.0+PTX", "sm_80 compute_80"},
      {"8.0+ptx", "sm_80 compute_80"},
      {"80+PTX", "sm_80 compute_80"},
      {"120", "sm_120"},
      {"9.0a", "sm_90a"},
      {"9.0A", "sm_90a"},
      {"120a", "sm_120a"},
      {"100f", "sm_100f"},
      {"10.0f", "sm_100f"},
      {"sm_100f", "sm_100f"},
      {"12.0f", "sm_120f"},
      {"compute_90a", "compute_90a"},
      {"9.0a+PTX", "sm_90a compute_90a"},
      {"10.0f-virtual", "compute_100f"},
      {"8.8", "sm_88"},
  }));
  CAPTURE(list);
  CHECK(targets_of(list) == names);
}

// The expansions that torch's _get_cuda_arch_flags gives (2.15).
TEST_CASE("Names stand for what torch makes of them, in any case") {
  const auto [name, names] = GENERATE(table<std::string, std::string>({
      {"Kepler+Tesla", "sm_37"},
      {"Kepler", "sm_35 compute_35"},
      {"Maxwell+Tegra", "sm_53"},
      {"Maxwell", "sm_50 sm_52 compute_52"},
      {"Pascal", "sm_60 sm_61 compute_61"},
      {"Volta+Tegra", "sm_72"},
      {"Volta", "sm_70 compute_70"},
      {"Turing", "sm_75 compute_75"},
      {"Ampere+Tegra", "sm_87"},
      {"Ampere", "sm_80 sm_86 compute_86"},
      {"Ada", "sm_89 compute_89"},
      {"Hopper", "sm_90 compute_90"},
      {"Blackwell+Tegra", "sm_110"},
      {"Blackwell", "sm_100 sm_103 sm_120 sm_121 compute_121"},
      {"Rubin", "sm_107 compute_107"},
  }));
  CAPTURE(name);
  CHECK(targets_of(name) == names);
  CHECK(targets_of(to_lower(name)) == names);
  CHECK(targets_of(to_upper(name)) == names);
}

TEST_CASE("A name without PTX takes a kind of its own, as in torch") {
  CHECK(targets_of("Ampere+Tegra+PTX") == "sm_87 compute_87");
  CHECK(targets_of("Blackwell+Tegra-virtual") == "compute_110");
}

TEST_CASE("Separators are ; , and blanks, in any number") {
  const std::string list =
      GENERATE("7.0;8.0+PTX", "7.0,8.0+PTX", "7.0 8.0+PTX", "7.0\t8.0+PTX", "7.0\n8.0+PTX", ";7.0;;8.0+PTX;",
               "  7.0 ,; 8.0+PTX\r\n", "8.0+PTX;7.0", "7.0;7.0;8.0;8.0+PTX", "70;compute_80;sm_80");
  CAPTURE(list);
  CHECK(targets_of(list) == "sm_70 sm_80 compute_80");
}

TEST_CASE("The words native, all and all-major are kept for later") {
  const auto request = parse_arch_list("ALL;native, all-major 9.0a", "--arch");
  REQUIRE(request);
  CHECK(request->all);
  CHECK(request->all_major);
  CHECK(request->native);
  CHECK_FALSE(request->is_default);
  CHECK_FALSE(request->explicit_only());
  CHECK(target_names(request->targets) == "sm_90a");
}

TEST_CASE("An unknown word is shown with its place and the nearest valid one") {
  const Error error = error_of("7.0; Amper");
  CHECK(error.code == "unknown_arch");
  CHECK(error.what == "unknown architecture 'Amper' (entry 2, character 6)");
  CHECK(error.fix.rfind("did you mean 'Ampere'? known compute capabilities: 3.5 3.7 5.0", 0) == 0);
}

TEST_CASE("Invalid entries are refused, and the nearest valid one is named") {
  const auto [entry, nearest] = GENERATE(table<std::string, std::string>({
      {"8.1", "8.0"},
      {"9.9", "10.0"},
      {"99.9", "12.1"},
      {"3.0", "3.5"},
      {"8", "8.0"},
      {"10", "10.0"},
      {"8.00", "12.1"},
      {"1.20", "12.0"},
      {"80.", "8.0"},
      {"sm_81", "sm_80"},
      {"sm_9", "sm_90"},
      {"sm_8.0", "sm_80"},
      {"compute_1000", "compute_121"},
      {"8.0a", "9.0a"},
      {"9.0f", "10.0f"},
      {"sm_80a", "sm_90a"},
      {"8.0x", "8.0"},
      {"9.0ab", "9.0"},
      {"8.0+PTX-real", "8.0+PTX"},
      {"8.0-real+PTX", "8.0-real"},
      {"8.0+PT", "8.0"},
      {"sm_80+PTX", "sm_80"},
      {"compute_80-real", "compute_80"},
      {"Ampere+PTX", "Ampere"},
      {"ampere-real", "Ampere"},
      {"Hoper", "Hopper"},
      {"natve", "native"},
      {"all-mayor", "all-major"},
      {"all+PTX", "all"},
      {"native-real", "native"},
      {"Volta+Tegr", "Volta+Tegra"},
      {"8.0/9.0", "8.0,9.0"},
      {"8.0|9.0+PTX", "8.0,9.0+ptx"},
      {"sm_80:sm_90", "sm_80,sm_90"},
      {"8.0PTX", "8.0+PTX"},
      {"9.0-ptx", "9.0+PTX"},
      {"sm90", "sm_90"},
      {"SM-90a", "sm_90a"},
      {"compute80", "compute_80"},
      {"cc8.9", "8.9"},
      {"H100", "9.0"},
      {"A100", "8.0"},
      {"a10", "8.6"},
      {"rtx4090", "8.9"},
      {"RTX-4090", "8.9"},
      {"GeForce_RTX_5090", "12.0"},
      {"NVIDIA-H100-PCIe", "9.0"},
      {"rtxa6000", "8.6"},
      {"l40s", "8.9"},
      {"4090", "12.1"},
  }));
  CAPTURE(entry);
  const Error error = error_of(entry);
  CHECK(error.code == "unknown_arch");
  CHECK(error.what == "unknown architecture '" + entry + "' (entry 1, character 1)");
  CHECK(error.fix.rfind("did you mean '" + nearest + "'?", 0) == 0);
}

TEST_CASE("The rule that an entry breaks is named") {
  CHECK(error_of("8.0a").fix.find("'a' exists from 9.0 on") != std::string::npos);
  CHECK(error_of("Ampere+PTX").fix.find("8.0;8.6+PTX") != std::string::npos);
  CHECK(error_of("sm_80+PTX").fix.find("take no +PTX") != std::string::npos);
}

TEST_CASE("What resembles nothing gets the known words and no guess") {
  const std::string entry = GENERATE("Banana", "--", "+PTX", "sm_", ".", "Ünïcode", "-real");
  CAPTURE(entry);
  CHECK(error_of(entry).fix.find("known") != std::string::npos);
}

TEST_CASE("A hostile word is shown short and without control characters") {
  const Error error = error_of("8.0;\x1b[31mred\x07" + std::string(200, 'x'));
  CHECK(error.what.find('\x1b') == std::string::npos);
  CHECK(error.what.find('\x07') == std::string::npos);
  CHECK(error.what.size() < 120);
}

TEST_CASE("Machine code of one arch is for itself or for its family, as nvcc has it") {
  const auto conflict = [](const char* list) {
    const auto request = parse_arch_list(list, "--arch");
    return request ? "" : request.error().code + ": " + request.error().what;
  };
  for (const char* fine : {"12.0;12.0a", "12.0f;12.0a", "12.0;12.1f", "12.0-virtual;12.0f",
                           "12.0;12.0f-virtual", "10.0f;12.0", "12.0f+PTX", "12.0f;12.0f"})
    CHECK(conflict(fine).empty());
  CHECK(conflict("12.0;8.0;12.0f") ==
        "conflicting_archs: '12.0' and '12.0f' cannot be in one library: nvcc takes only one of them for "
        "machine code, and that of '12.0f' runs on all of its family");
  for (const char* refused : {"10.0f+PTX 10.0", "11.0;11.0a;11.0f", "12.1+PTX,12.1f+PTX"})
    CHECK(conflict(refused).starts_with("conflicting_archs"));
}

TEST_CASE("A list without entries is an error of its own") {
  const std::string list = GENERATE("", " ", ";;", " ,\t;\n");
  CHECK(error_of(list).code == "empty_arch_list");
}

TEST_CASE("Lists over 64 KiB or 1,024 entries are refused, at the limit they are read") {
  std::string entries;
  for (int i = 0; i < 1024; ++i)
    entries += "8.0;";
  CHECK(targets_of(entries) == "sm_80");
  CHECK(error_of(entries + "8.0").code == "arch_list_too_long");
  const std::string blanks(64 * 1024 - 3, ' ');
  CHECK(targets_of(blanks + "8.0") == "sm_80");
  CHECK(error_of(blanks + " 8.0").code == "arch_list_too_long");
}
