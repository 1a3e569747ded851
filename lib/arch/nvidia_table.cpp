// The two tables of device architectures: which nvcc targets a CC, and which CCs are one family.
#include <algorithm>

#include "arch/nvidia.h"

namespace dsbuild {
namespace {

// Sources: nvcc --help of 11.8 and 13.0 to 13.5, ptxas --help of 12.4, 12.8 and 12.9; before 11.8, the PTX
// ISA's release history. `a` began with CUDA 12.0, `f` with 12.9. 10.1 was renamed 11.0 in 13.0.
const std::vector<ArchRow> k_rows = {
    {{3, 5}, "Kepler", 500, 1108},
    {{3, 7}, "Kepler", 605, 1108},
    {{5, 0}, "Maxwell", 600, 1209},
    {{5, 2}, "Maxwell", 605, 1209},
    {{5, 3}, "Maxwell", 700, 1209},
    {{6, 0}, "Pascal", 800, 1209},
    {{6, 1}, "Pascal", 800, 1209},
    {{6, 2}, "Pascal", 800, 1209},
    {{7, 0}, "Volta", 900, 1209},
    {{7, 2}, "Volta", 901, 1209},
    {{7, 5}, "Turing", 1000, k_current},
    {{8, 0}, "Ampere", 1100, k_current},
    {{8, 6}, "Ampere", 1101, k_current},
    {{8, 7}, "Ampere", 1104, k_current},
    {{8, 8}, "Ampere", 1300, k_current},
    {{8, 9}, "Ada", 1108, k_current},
    {{9, 0}, "Hopper", 1108, k_current, 1200},
    {{10, 0}, "Blackwell", 1208, k_current, 1208, 1209},
    {{10, 1}, "Blackwell", 1208, 1209, 1208, 1209, {11, 0}},  // release notes of CUDA 13.0
    {{10, 3}, "Blackwell", 1209, k_current, 1209, 1209},
    {{10, 7}, "Rubin", 1304, k_current, 1304, 1304},
    {{11, 0}, "Blackwell", 1300, k_current, 1300, 1300},
    {{12, 0}, "Blackwell", 1208, k_current, 1208, 1209},
    {{12, 1}, "Blackwell", 1209, k_current, 1209, 1209},
};

// Source: the CUDA programming guide's table of family-specific targets, and for 10.7 what nvcc 13.5
// accepts (compute_100f and compute_103f for sm_107).
struct FamilyRow {
  ComputeCapability family;
  std::vector<ComputeCapability> members;
};
const std::vector<FamilyRow> k_families = {
    {{10, 0}, {{10, 0}, {10, 3}, {10, 7}}},
    {{10, 1}, {{10, 1}}},
    {{10, 3}, {{10, 3}, {10, 7}}},
    {{10, 7}, {{10, 7}}},
    {{11, 0}, {{11, 0}}},
    {{12, 0}, {{12, 0}, {12, 1}}},
    {{12, 1}, {{12, 1}}},
};

std::string version_text(int version) {
  return std::to_string(version / 100) + "." + std::to_string(version % 100);
}

bool targeted_by(const ArchRow& row, Suffix suffix, int version) {
  const int first = row.first_for(suffix);
  return first > 0 && first <= version && version <= row.last_cuda;
}

}  // namespace

int ArchRow::first_for(Suffix suffix) const {
  switch (suffix) {
    case Suffix::a:
      return first_cuda_a;
    case Suffix::f:
      return first_cuda_f;
    case Suffix::none:
      break;
  }
  return first_cuda;
}

const std::vector<ArchRow>& arch_table() {
  return k_rows;
}

const ArchRow* find_arch(ComputeCapability cc) {
  const auto row = std::find_if(k_rows.begin(), k_rows.end(),
                                [&](const ArchRow& candidate) { return candidate.cc == cc; });
  return row == k_rows.end() ? nullptr : &*row;
}

ArchSet targets_of_cuda(int version) {
  ArchSet targets;
  for (const ArchRow& row : k_rows) {
    for (const Suffix suffix : {Suffix::none, Suffix::a, Suffix::f}) {
      if (!targeted_by(row, suffix, version)) continue;
      targets.insert(NvidiaTarget{row.cc, suffix, CodeKind::real});
      targets.insert(NvidiaTarget{row.cc, suffix, CodeKind::ptx});
    }
  }
  return targets;
}

bool same_family(ComputeCapability family, ComputeCapability gpu) {
  return std::any_of(k_families.begin(), k_families.end(), [&](const FamilyRow& row) {
    return row.family == family &&
           std::find(row.members.begin(), row.members.end(), gpu) != row.members.end();
  });
}

std::string cuda_versions_for(const ArchSet& set) {
  int first = 0;
  int last = k_current;
  for (const Target& each : set) {
    const NvidiaTarget target = nvidia_target(each);
    const ArchRow* row = find_arch(target.cc);
    if (!row || row->first_for(target.suffix) == 0) return "";
    first = std::max(first, row->first_for(target.suffix));
    last = std::min(last, row->last_cuda);
  }
  if (set.empty() || first > last) return "";
  if (last == k_current) return "CUDA " + version_text(first) + " and newer";
  if (first == last) return "CUDA " + version_text(first);
  return "CUDA " + version_text(first) + " to " + version_text(last);
}

}  // namespace dsbuild
