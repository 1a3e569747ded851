// The table of AMD's processors.
#include <algorithm>

#include "arch/amd.h"

namespace dsbuild {
namespace {

constexpr AmdFeatures k_none = AmdFeatures::none;
constexpr AmdFeatures k_xnack = AmdFeatures::xnack;
constexpr AmdFeatures k_unnamed = AmdFeatures::unnamed;
constexpr AmdFeatures k_both = AmdFeatures::sramecc_xnack;

// Sources: machine, features and wave size by the code that clang 22 makes (gfx940, gfx941: clang 19), as
// llvm-readelf 22 reads it; members by the table of generic processors in LLVM's User Guide for AMDGPU; first
// and last by the -mcpu=help of LLVM 13 to 16, 19 and 22 and the names in LLVM 17, 18, 20 and 21.
const std::vector<AmdProcessor> k_processors = {
    {"gfx10-1-generic", 0x52, k_xnack, 32, "", "RDNA", 19, k_current_clang},
    {"gfx10-3-generic", 0x53, k_none, 32, "", "RDNA 2", 19, k_current_clang},
    {"gfx1010", 0x33, k_xnack, 32, "gfx10-1-generic", "RDNA", 13, k_current_clang},
    {"gfx1011", 0x34, k_xnack, 32, "gfx10-1-generic", "RDNA", 13, k_current_clang},
    {"gfx1012", 0x35, k_xnack, 32, "gfx10-1-generic", "RDNA", 13, k_current_clang},
    {"gfx1013", 0x42, k_xnack, 32, "gfx10-1-generic", "RDNA", 13, k_current_clang},
    {"gfx1030", 0x36, k_none, 32, "gfx10-3-generic", "RDNA 2", 13, k_current_clang},
    {"gfx1031", 0x37, k_none, 32, "gfx10-3-generic", "RDNA 2", 13, k_current_clang},
    {"gfx1032", 0x38, k_none, 32, "gfx10-3-generic", "RDNA 2", 13, k_current_clang},
    {"gfx1033", 0x39, k_none, 32, "gfx10-3-generic", "RDNA 2", 13, k_current_clang},
    {"gfx1034", 0x3e, k_none, 32, "gfx10-3-generic", "RDNA 2", 13, k_current_clang},
    {"gfx1035", 0x3d, k_none, 32, "gfx10-3-generic", "RDNA 2", 13, k_current_clang},
    {"gfx1036", 0x45, k_none, 32, "gfx10-3-generic", "RDNA 2", 15, k_current_clang},
    {"gfx11-generic", 0x54, k_none, 32, "", "RDNA 3 and 3.5", 19, k_current_clang},
    {"gfx1100", 0x41, k_none, 32, "gfx11-generic", "RDNA 3", 15, k_current_clang},
    {"gfx1101", 0x46, k_none, 32, "gfx11-generic", "RDNA 3", 15, k_current_clang},
    {"gfx1102", 0x47, k_none, 32, "gfx11-generic", "RDNA 3", 15, k_current_clang},
    {"gfx1103", 0x44, k_none, 32, "gfx11-generic", "RDNA 3", 15, k_current_clang},
    {"gfx1150", 0x43, k_none, 32, "gfx11-generic", "RDNA 3.5", 17, k_current_clang},
    {"gfx1151", 0x4a, k_none, 32, "gfx11-generic", "RDNA 3.5", 17, k_current_clang},
    {"gfx1152", 0x55, k_none, 32, "gfx11-generic", "RDNA 3.5", 19, k_current_clang},
    {"gfx1153", 0x58, k_none, 32, "gfx11-generic", "RDNA 3.5", 20, k_current_clang},
    {"gfx12-generic", 0x59, k_none, 32, "", "RDNA 4", 19, k_current_clang},
    {"gfx1200", 0x48, k_none, 32, "gfx12-generic", "RDNA 4", 18, k_current_clang},
    {"gfx1201", 0x4e, k_none, 32, "gfx12-generic", "RDNA 4", 18, k_current_clang},
    {"gfx1250", 0x49, k_unnamed, 32, "", "GFX12.5", 21, k_current_clang},
    {"gfx1251", 0x5a, k_unnamed, 32, "", "GFX12.5", 22, k_current_clang},
    {"gfx600", 0x20, k_none, 64, "", "GCN 1", 13, k_current_clang},
    {"gfx601", 0x21, k_none, 64, "", "GCN 1", 13, k_current_clang},
    {"gfx602", 0x3a, k_none, 64, "", "GCN 1", 13, k_current_clang},
    {"gfx700", 0x22, k_none, 64, "", "GCN 2", 13, k_current_clang},
    {"gfx701", 0x23, k_none, 64, "", "GCN 2", 13, k_current_clang},
    {"gfx702", 0x24, k_none, 64, "", "GCN 2", 13, k_current_clang},
    {"gfx703", 0x25, k_none, 64, "", "GCN 2", 13, k_current_clang},
    {"gfx704", 0x26, k_none, 64, "", "GCN 2", 13, k_current_clang},
    {"gfx705", 0x3b, k_none, 64, "", "GCN 2", 13, k_current_clang},
    {"gfx801", 0x28, k_xnack, 64, "", "GCN 3", 13, k_current_clang},
    {"gfx802", 0x29, k_none, 64, "", "GCN 3", 13, k_current_clang},
    {"gfx803", 0x2a, k_none, 64, "", "GCN 3", 13, k_current_clang},
    {"gfx805", 0x3c, k_none, 64, "", "GCN 3", 13, k_current_clang},
    {"gfx810", 0x2b, k_xnack, 64, "", "GCN 3", 13, k_current_clang},
    {"gfx9-4-generic", 0x5f, k_both, 64, "", "CDNA 3 and 4", 20, k_current_clang},
    {"gfx9-generic", 0x51, k_xnack, 64, "", "GCN 5", 19, k_current_clang},
    {"gfx900", 0x2c, k_xnack, 64, "gfx9-generic", "GCN 5", 13, k_current_clang},
    {"gfx902", 0x2d, k_xnack, 64, "gfx9-generic", "GCN 5", 13, k_current_clang},
    {"gfx904", 0x2e, k_xnack, 64, "gfx9-generic", "GCN 5", 13, k_current_clang},
    {"gfx906", 0x2f, k_both, 64, "gfx9-generic", "GCN 5", 13, k_current_clang},
    {"gfx908", 0x30, k_both, 64, "", "CDNA", 13, k_current_clang},
    {"gfx909", 0x31, k_xnack, 64, "gfx9-generic", "GCN 5", 13, k_current_clang},
    {"gfx90a", 0x3f, k_both, 64, "", "CDNA 2", 13, k_current_clang},
    {"gfx90c", 0x32, k_xnack, 64, "gfx9-generic", "GCN 5", 13, k_current_clang},
    {"gfx940", 0x40, k_both, 64, "gfx9-4-generic", "CDNA 3", 15, 20},
    {"gfx941", 0x4b, k_both, 64, "gfx9-4-generic", "CDNA 3", 17, 20},
    {"gfx942", 0x4c, k_both, 64, "gfx9-4-generic", "CDNA 3", 17, k_current_clang},
    {"gfx950", 0x4f, k_both, 64, "gfx9-4-generic", "CDNA 4", 20, k_current_clang},
};

}  // namespace

const std::vector<AmdProcessor>& amd_processors() {
  return k_processors;
}

bool AmdProcessor::is_generic() const {
  return std::string_view(name).ends_with("-generic");
}

}  // namespace dsbuild
