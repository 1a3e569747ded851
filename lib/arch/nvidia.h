// NVIDIA's targets.
// Source: CUDA C++ Programming Guide (compute capability, binary and PTX compatibility,
// architecture- and family-specific targets) and nvcc --help (allowed values of -arch and -code).
#pragma once

#include "arch/vendor.h"

namespace dsbuild {

// Compute capability (CC): 9.0 of an H100.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
  std::string text() const;  // "9.0"
};

// none: runs on this CC and compatible ones; a: this CC alone, with all its features; f: this CC's family.
enum class Suffix { none, a, f };
// real: machine code (cubin) `sm_90`; ptx: virtual code `compute_90`.
enum class CodeKind { real, ptx };

const Vendor& nvidia();

// The contents of a Target of NVIDIA. The order of the members is the canonical order.
struct NvidiaTarget {
  ComputeCapability cc;
  Suffix suffix = Suffix::none;
  CodeKind kind = CodeKind::real;
  auto operator<=>(const NvidiaTarget&) const = default;
  operator Target() const;
};
NvidiaTarget nvidia_target(const Target& target);  // `target` must be NVIDIA's
// "compute_90a": the virtual arch from which nvcc makes it.
std::string virtual_name(const Target& target);

// Whether code for an `f` target of `family` runs on `gpu` ("100f": 10.0, 10.3, 10.7; never 10.1 or 11.0).
bool same_family(ComputeCapability family, ComputeCapability gpu);

// One row for each CC: its name, and the CUDA versions whose nvcc can target it.
constexpr int k_current = 9999;
struct ArchRow {
  ComputeCapability cc;
  const char* architecture;     // "Volta"
  int first_cuda;               // 900 for CUDA 9.0
  int last_cuda;                // last that targets it, e.g. 1209; k_current: nvcc still does
  int first_cuda_a = 0;         // first that knows its `a` target; 0: there is none
  int first_cuda_f = 0;         // first that knows its `f` target; 0: there is none
  ComputeCapability renamed{};  // the name of the same GPUs in later versions of CUDA; 0.0: unchanged

  int first_for(Suffix suffix) const;  // 0: there is no such target
};
const std::vector<ArchRow>& arch_table();
const ArchRow* find_arch(ComputeCapability cc);  // nullptr if it has no row
// Every target, real and PTX, that nvcc of this version (major*100+minor) knows according to the table.
ArchSet targets_of_cuda(int version);
// "CUDA 11.1 to 12.9", "CUDA 12.8 and newer" for all targets together, or "" when no version targets all
// of them.
std::string cuda_versions_for(const ArchSet& set);

}  // namespace dsbuild
