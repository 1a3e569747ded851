// AMD's targets: target IDs, as `gfx90a:sramecc+:xnack-` and `gfx9-4-generic`. Source: LLVM's User Guide for
// the AMDGPU backend (processors, generic processors, target ID, the ELF header's e_flags); output of clang
// 13 to 22 and llvm-readelf 22 (docs/reference/arch.md).
#pragma once

#include "arch/vendor.h"

namespace dsbuild {

const Vendor& amd();

// A GPU feature in a target ID: code for GPUs with it on, with it off, or for both, which the ID does not
// mention.
enum class AmdFeature { any, on, off };
// Which of the two features a processor has and its target IDs may name; unnamed: it has both, but its IDs
// name none.
enum class AmdFeatures { none, xnack, sramecc_xnack, unnamed };

// One row for each processor, in the order of their names: clang's order in a bundle.
struct AmdProcessor {
  const char* name;          // "gfx90a", "gfx9-4-generic"
  uint8_t machine;           // EF_AMDGPU_MACH, the lowest byte of e_flags
  AmdFeatures features;      // in target IDs
  int wave_size;             // lanes of a wavefront, by default: 32 or 64
  const char* generic;       // "gfx9-generic", whose code it runs; "": none
  const char* architecture;  // "CDNA 2"
  int first_clang;           // the first clang that targets it; 13 also for older ones
  int last_clang;            // k_current_clang: clang still targets it
  bool is_generic() const;
};
constexpr int k_current_clang = 999;
const std::vector<AmdProcessor>& amd_processors();

// The contents of a Target of AMD.
struct AmdTarget {
  const AmdProcessor* processor;
  AmdFeature sramecc = AmdFeature::any;
  AmdFeature xnack = AmdFeature::any;
  operator Target() const;
};
AmdTarget amd_target(const Target& target);  // `target` must be AMD's

// Lanes of a wavefront: 64 up to gfx9, 32 from gfx10 on, which is what __AMDGCN_WAVEFRONT_SIZE was.
int amd_wave_size(const Target& target);

// e_flags of code objects of version 4 and newer (EI_ABIVERSION 2 and above): bits 0-7 the machine, 8-9
// xnack, 10-11 sramecc (0 has none, 1 any, 2 off, 3 on), 24-31 the version of a generic processor, from 1.
// nullopt: a machine without a row; a feature that the processor's target IDs cannot name; a generic version
// for a processor that is not generic, or none for one that is.
std::optional<Target> amd_target_of(uint32_t elf_flags);
uint32_t amd_elf_flags(const Target& target);

// Every target, with all its features, that this version of clang knows according to the table.
ArchSet targets_of_clang(int version);
// All forms of a processor: gfx900 is gfx900, gfx900:xnack+ and gfx900:xnack-.
ArchSet amd_forms(const AmdProcessor& processor);

}  // namespace dsbuild
