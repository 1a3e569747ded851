#include "bundle/gate.h"

#include <catch2/catch.hpp>

#include "arch/amd.h"
#include "arch/nvidia.h"

using namespace dsbuild;

namespace {

const Target k_sm_80 = NvidiaTarget{{8, 0}}, k_sm_90 = NvidiaTarget{{9, 0}},
             k_ptx_80 = NvidiaTarget{{8, 0}, Suffix::none, CodeKind::ptx},
             k_mi300 = *amd().parse_name("gfx942");

Gate gate_for(const std::vector<Target>& gpus, bool is_strict = true) {
  Gate gate;
  gate.gpus = gpus;
  gate.is_strict = is_strict;
  return gate;
}

Gated of(std::vector<GatedLibrary> libraries) {
  return {"out", "op", std::move(libraries)};
}

std::string runs(const Gated& gated, const Target& gpu) {
  switch (coverage_of_libraries(gated.libraries, gpu).runs()) {
    case Runs::natively:
      return "natively";
    case Runs::by_generic:
      return "by generic";
    case Runs::by_driver:
      return "by driver";
    case Runs::not_at_all:
      break;
  }
  return "not at all";
}

}  // namespace

TEST_CASE("A GPU runs a bundle as it runs the op that it runs worst") {
  const GatedLibrary native{"a", "a", 1, {{k_sm_90}}}, by_ptx{"b", "b", 1, {{k_ptx_80}}},
      none{"c", "c", 1, {{k_sm_80}}};
  CHECK(runs(of({native}), k_sm_90) == "natively");
  CHECK(runs(of({native, by_ptx}), k_sm_90) == "by driver");
  CHECK(runs(of({native, by_ptx, none}), k_sm_90) == "not at all");
}

TEST_CASE("Each module counts, host code does not") {
  CHECK(runs(of({{"a", "a", 1, {{k_sm_90}, {k_sm_80}}}}), k_sm_90) == "not at all");
  CHECK(runs(of({{"a", "a", 1, {{k_sm_90}, {}}}, {"host", "host", 1, {}}}), k_sm_90) == "natively");
  CHECK(runs(of({{"host", "host", 1, {{}}}}), k_sm_90) == "not at all");
}

TEST_CASE("Of an op's libraries for several vendors the one that serves a GPU counts") {
  const Gated both =
      of({{"a", "a", 1, {{k_sm_90}}}, {"a", "a.hip", 1, {{k_mi300}}}, {"b", "b", 1, {{k_sm_90}}}});
  CHECK(runs(both, k_sm_90) == "natively");
  CHECK(runs(both, k_mi300) == "not at all");  // b
  const auto verdict = judge_gpus(gate_for({k_mi300}), both);
  REQUIRE(verdict->failures.size() == 1);
  CHECK(verdict->failures[0].what == "GPU gfx942 cannot run 1 of 2 ops: b (it has 9.0)");
}

TEST_CASE("What is not covered fails where that is strict, what a driver compiles is a warning") {
  const Gated gated =
      of({{"a", "a", 1, {{k_sm_80, k_ptx_80}, {k_sm_80}}}, {"b", "b", 1, {{k_sm_80, k_ptx_80}}}});
  const auto strict = judge_gpus(gate_for({k_sm_80, k_sm_90}), gated);
  REQUIRE(strict->failures.size() == 1);
  CHECK(strict->failures[0].code == "gpu_not_covered");
  CHECK(strict->failures[0].exit == Exit::failed);
  CHECK(strict->failures[0].what == "GPU 9.0 cannot run 1 of 2 ops: a (its module 2 has 8.0)");
  REQUIRE(strict->warnings.size() == 1);
  CHECK(strict->warnings[0].code == "gpu_by_driver");
  CHECK(strict->warnings[0].what == "GPU 9.0 runs 1 of 2 ops only by its driver's compiler: b (compute_80)");
  const auto asked = judge_gpus(gate_for({k_sm_90}, false), gated);
  CHECK(asked->failures.empty());
  CHECK(asked->warnings.size() == 2);
}

TEST_CASE("Sizes: of all, of each, of one in place of that") {
  const Gated gated = of({{"a", "a", 100, {}}, {"b", "b", 50, {}}});
  const auto failures = [&](uint64_t all, uint64_t each, std::map<std::string, uint64_t> own) {
    Gate gate;
    gate.max_bytes = all;
    gate.max_op_bytes = each;
    gate.max_of = std::move(own);
    const auto verdict = judge(gate, gated);
    return verdict ? static_cast<int>(verdict->failures.size()) : -1;
  };
  CHECK(failures(150, 100, {}) == 0);
  CHECK(failures(149, 0, {}) == 1);
  CHECK(failures(0, 99, {}) == 1);
  CHECK(failures(0, 49, {}) == 2);
  CHECK(failures(0, 49, {{"a", 100}, {"b", 50}}) == 0);
  CHECK(failures(0, 0, {{"b", 49}}) == 1);
  CHECK(failures(149, 49, {}) == 3);
  CHECK(failures(0, 0, {{"c", 1}}) == -1);  // unknown_op
}

TEST_CASE(
    "Where PTX alone is forbidden, a GPU that takes it is a failure, and so is an op without machine code") {
  const GatedLibrary both{"a", "a", 1, {{k_sm_80, k_ptx_80}}}, by_ptx{"b", "b", 1, {{k_ptx_80}}},
      host{"host", "host", 1, {{}}};
  const auto codes = [](const Gate& gate, const Gated& gated) {
    std::vector<std::string> found;
    const auto verdict = judge(gate, gated);
    REQUIRE(verdict);
    for (const Error& failure : verdict->failures)
      found.push_back(failure.code);
    return found;
  };
  using Codes = std::vector<std::string>;
  Gate gate = gate_for({k_sm_80});
  gate.forbids_ptx_only = true;
  CHECK(codes(gate, of({both, host})) == Codes{});
  CHECK(codes(gate, of({both, by_ptx})) == Codes{"ptx_only", "ptx_only"});
  gate.gpus = {k_sm_90};
  CHECK(codes(gate, of({both, host})) == Codes{"ptx_only"});
  gate.gpus = {};
  CHECK(gate.asks());
  CHECK(codes(gate, of({both, host})) == Codes{});
  CHECK(codes(gate, of({{"a", "a", 1, {{k_sm_80}, {k_ptx_80}}}})) == Codes{"ptx_only"});
  gate.forbids_ptx_only = false;
  CHECK(codes(gate, of({by_ptx})) == Codes{});
}
