// Files of each kind that dsbuild reads device code from, made by hand: what tests damage, and fuzzers begin
// with.
#pragma once

#include "support/offload_bytes.h"

namespace dsbuild::samples {

// A bundle in each version and method of compression.
inline std::vector<std::string> packed_bundles(const std::string& plain) {
  std::vector<std::string> packed;
  for (const unsigned version : {1, 2, 3})
    for (const unsigned method : {0, 1})
      packed.push_back(packed_bundle(plain, version, method));
  return packed;
}

// Device code for GPUs of AMD and Intel that is a file by itself.
inline std::vector<std::string> offload_files() {
  std::vector<std::string> files = packed_bundles(small_bundle());
  for (const std::string& file :
       {small_bundle(), code_object(k_gfx90a_xnack), spirv(), pvc_file(), ocloc_archive(),
        zebin({{1, u32(0x12)}, {3, u32(0)}}, {{".spv", k_ocloc_spirv, spirv()}}),
        zebin({{6, u32(12 << 22 | 60 << 14 | 7)}})})
    files.push_back(file);
  return files;
}

// Sections of it: bundles of HIP one behind the other, images of SYCL.
inline std::vector<std::string> offload_sections() {
  std::vector<std::string> sections = offload_files();
  sections.push_back(padded(packed_bundle(small_bundle(), 2), 4096) + small_bundle());
  sections.push_back(padded(spirv(), 16) + big_endian_words(spirv(1)));
  sections.push_back(*compress(pvc_file()));
  return sections;
}

// One file of each kind, with all that the reader looks at.
inline std::vector<std::string> files_of_all_kinds() {
  const std::string fatbin =
      container({entry(k_elf, 70), entry(k_elf, 90, 0x108011), entry(k_ptx, 80),
                 concatenated({{.size = 8}, {.size = 8, .has_table = true}}, zeros(8))});
  const std::string shared = library({fatbin, container({entry(8, 80)}), fatbin}, {"one", "two"});
  const std::string cubin = elf({{".note.nv.tkinfo", 7, "-arch sm_90a -m 64"}},
                                {.type = 2, .machine = 190, .flags = 0x6005a04, .abi_version = 8});
  const std::string archive = "!<arch>\n" + archive_member("/", "x") + archive_member("a.o/", shared);
  const std::string hip = elf({{".hip_fatbin", 1, packed_bundle(small_bundle())},
                               {".hipFatBinSegment", 1, "FPIH" + u32(1) + u64(0) + u64(0)},
                               {".rela.dyn", 4, u64(8) + u64(8) + u64(0x1000), 4},
                               {".dynsym", 11, zeros(48)}});
  const std::string sycl = elf({{"__CLANG_OFFLOAD_BUNDLE__sycl-spir64", 1, padded(spirv(), 16) + spirv()},
                                {"__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", 1, *compress(pvc_file())}});
  std::vector<std::string> files = offload_files();
  for (const std::string& file : {fatbin, shared, cubin, archive, object_with_relocations(),
                                  std::string(".version 9.0\n.target sm_90a\n"), hip, sycl})
    files.push_back(file);
  return files;
}

}  // namespace dsbuild::samples
