// AMD's targets: target IDs, as `gfx90a:sramecc+:xnack-` and `gfx9-4-generic`.
// Source: LLVM's User Guide for the AMDGPU backend (processors, generic processors, target ID, the ELF
// header's e_flags); what clang 13 to 22 and llvm-readelf 22 say themselves (docs/reference/arch.md).
#pragma once

#include "arch/vendor.h"

namespace dsbuild {

const Vendor& amd();

// A feature of the GPU that code may be made for: on, off, or whatever the GPU has, which is not written.
enum class AmdFeature { any, on, off };
// Which of the two features a processor has and its target IDs may name; unnamed: both, and they name none.
enum class AmdFeatures { none, xnack, sramecc_xnack, unnamed };

// One row for each processor, in the order of their names: clang's order in a bundle.
struct AmdProcessor {
  const char* name;          // "gfx90a", "gfx9-4-generic"
  uint8_t machine;           // EF_AMDGPU_MACH, the lowest byte of e_flags
  AmdFeatures features;      // in target IDs
  int wave_size;             // lanes of a wavefront, unless the compiler is told otherwise: 32 or 64
  const char* generic;       // "gfx9-generic", whose code it runs; "": none
  const char* architecture;  // "CDNA 2"
  int first_clang;           // that targets it; 13 for what is older
  int last_clang;            // k_current_clang while clang still does
  bool is_generic() const;
};
constexpr int k_current_clang = 999;
const std::vector<AmdProcessor>& amd_processors();

// What stands in a target of AMD's.
struct AmdTarget {
  const AmdProcessor* processor;
  AmdFeature sramecc = AmdFeature::any;
  AmdFeature xnack = AmdFeature::any;
  operator Target() const;
};
AmdTarget amd_target(const Target& target);  // of a target that is one

// Lanes of a wavefront: 64 up to gfx9, 32 from gfx10 on, which is what __AMDGCN_WAVEFRONT_SIZE was.
int amd_wave_size(const Target& target);

// e_flags of code objects of version 4 and newer (EI_ABIVERSION 2 and above): bits 0-7 the machine, 8-9
// xnack, 10-11 sramecc (0 has none, 1 any, 2 off, 3 on), 24-31 the version of a generic processor, from 1.
// nullopt: a machine without a row, a feature that the processor's target IDs cannot name, or a generic
// version where there is none to be, or none where there must be one.
std::optional<Target> amd_target_of(uint32_t elf_flags);
uint32_t amd_elf_flags(const Target& target);

// Every target, with all features that there are, that clang of this version knows by the table.
ArchSet targets_of_clang(int version);
// All forms of a processor: gfx900 is gfx900, gfx900:xnack+ and gfx900:xnack-.
ArchSet amd_forms(const AmdProcessor& processor);

}  // namespace dsbuild
