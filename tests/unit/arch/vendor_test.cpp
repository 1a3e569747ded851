#include <catch2/catch.hpp>

#include "arch/coverage.h"
#include "arch/nvidia.h"
#include "unit/arch/made_up_vendor.h"

using namespace dsbuild;

namespace {

const MadeUpVendor k_other;
const Target k_ampere = NvidiaTarget{{8, 0}};
const Target k_ampere_ptx = NvidiaTarget{{8, 0}, Suffix::none, CodeKind::ptx};

}  // namespace

TEST_CASE("Targets of two vendors are in one set, each vendor's together and in its own order") {
  const ArchSet set{NvidiaTarget{{9, 0}}, k_other.target(2), k_ampere_ptx, k_other.target(1), k_ampere};
  CHECK(target_names(set) == "gx1 gx2 sm_80 compute_80 sm_90");
  CHECK(arch_list(set) == "gx1;gx2;8.0+PTX;9.0");
  CHECK(vendors_of(set) == std::vector<const Vendor*>{&k_other, &nvidia()});
  CHECK(targets_of(set, k_other) == ArchSet{k_other.target(1), k_other.target(2)});
  CHECK(difference(set, targets_of(set, k_other)) == targets_of(set, nvidia()));
}

TEST_CASE("What one vendor makes runs on no GPU of another") {
  CHECK(runs_on(k_other.target(1), k_other.target(1)) == Runs::natively);
  CHECK(runs_on(k_ampere, k_other.target(1)) == Runs::not_at_all);
  CHECK(runs_on(k_other.target(1), k_ampere) == Runs::not_at_all);
  const ArchSet both{k_ampere, k_other.target(1)};
  CHECK(coverage_of(both, k_other.target(1)).text() == "native (gx1)");
  CHECK(coverage_of(both, k_ampere).text() == "native (sm_80)");
  CHECK(coverage_of(both, k_other.target(2)).text() == "will not run");
}

TEST_CASE("The words of a list that depend on a toolkit are those of its vendor") {
  ArchRequest request;
  request.is_default = true;
  CHECK(resolve_arch_request(request, k_other, {}, 100, {}).value() == ArchSet{k_other.target(1)});
  request = {};
  request.native = true;
  const Target gpu = k_other.target(2);
  CHECK(resolve_arch_request(request, k_other, {}, 100, {gpu}).value() == ArchSet{gpu});
}

TEST_CASE("native is what each vendor makes of its own GPUs") {
  CHECK(native_archs({k_ampere, k_other.target(2)}) == ArchSet{k_other.target(2), k_ampere, k_ampere_ptx});
  CHECK(native_archs({}).empty());
}

TEST_CASE("A target has a base, by which GPUs are called, and forms of it") {
  const Target form = NvidiaTarget{{9, 0}, Suffix::a, CodeKind::ptx};
  CHECK(form.machine().text() == "9.0a");
  CHECK(form.plain().text() == "9.0-virtual");
  CHECK(form.base().text() == "9.0");
  CHECK(form.image_kind() == "ptx");
  CHECK(form.base().image_kind() == "elf");
}
