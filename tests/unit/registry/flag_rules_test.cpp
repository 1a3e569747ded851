// The tables are written by hand from the manuals of gcc, nvcc and GNU ld, and from what Go's cgo refuses
// (CVE-2018-6574 and its family); see docs/op_yaml.md.
#include <catch2/catch.hpp>

#include "registry/registry.h"

namespace dsbuild {
namespace {

struct FlagRow {
  FlagKind kind;
  const char* flag;
};
constexpr FlagKind k_cxx = FlagKind::cxx, k_nvcc = FlagKind::nvcc, k_link = FlagKind::link;

const std::vector<FlagRow> k_good = {
    {k_cxx, "-O0"},
    {k_cxx, "-O1"},
    {k_cxx, "-O2"},
    {k_cxx, "-O3"},
    {k_cxx, "-Os"},
    {k_cxx, "-Ofast"},
    {k_cxx, "-g"},
    {k_cxx, "-g1"},
    {k_cxx, "-w"},
    {k_cxx, "-Wall"},
    {k_cxx, "-Wextra"},
    {k_cxx, "-Wno-reorder"},
    {k_cxx, "-Wno-unused-parameter"},
    {k_cxx, "-Wno-c++20-compat"},
    {k_cxx, "-Werror"},
    {k_cxx, "-Werror=return-type"},
    {k_cxx, "-Wpedantic"},
    {k_cxx, "-fopenmp"},
    {k_cxx, "-fopenmp-simd"},
    {k_cxx, "-fPIC"},
    {k_cxx, "-ffast-math"},
    {k_cxx, "-fno-fast-math"},
    {k_cxx, "-fno-math-errno"},
    {k_cxx, "-ffp-contract=off"},
    {k_cxx, "-fno-strict-aliasing"},
    {k_cxx, "-fvisibility=hidden"},
    {k_cxx, "-funroll-loops"},
    {k_cxx, "-ftree-vectorize"},
    {k_cxx, "-fno-exceptions"},
    {k_cxx, "-ftemplate-depth=1024"},
    {k_cxx, "-fconstexpr-depth=4096"},
    {k_cxx, "-mavx2"},
    {k_cxx, "-mfma"},
    {k_cxx, "-mf16c"},
    {k_cxx, "-mavx512f"},
    {k_cxx, "-mavx512bw"},
    {k_cxx, "-mno-avx512vnni"},
    {k_cxx, "-msse4.2"},
    {k_cxx, "-mamx-bf16"},
    {k_cxx, "-mprefer-vector-width=512"},
    {k_cxx, "-march=x86-64-v3"},
    {k_cxx, "-march=haswell"},
    {k_cxx, "-mtune=znver4"},
    {k_cxx, "-march=armv8.2-a+fp16+dotprod"},
    {k_cxx, "-mcpu=neoverse-n1"},
    {k_cxx, "-DNAME"},
    {k_cxx, "-DNAME=1"},
    {k_cxx, "-DTYPE=cutlass::half_t"},
    {k_cxx, "-DX="},
    {k_cxx, "-D_GLIBCXX_USE_CXX11_ABI=1"},
    {k_cxx, "-UNDEBUG"},
    {k_cxx, "-pthread"},
    {k_cxx, "--param=max-inline-insns-single=400"},
    {k_nvcc, "-O3"},
    {k_nvcc, "-g"},
    {k_nvcc, "-G"},
    {k_nvcc, "-lineinfo"},
    {k_nvcc, "--generate-line-info"},
    {k_nvcc, "--use_fast_math"},
    {k_nvcc, "-use_fast_math"},
    {k_nvcc, "--expt-relaxed-constexpr"},
    {k_nvcc, "-expt-relaxed-constexpr"},
    {k_nvcc, "--expt-extended-lambda"},
    {k_nvcc, "--extended-lambda"},
    {k_nvcc, "--maxrregcount=64"},
    {k_nvcc, "-maxrregcount=128"},
    {k_nvcc, "--ptxas-options=-v"},
    {k_nvcc, "-Xptxas=-v"},
    {k_nvcc, "-Xptxas=-dlcm=ca"},
    {k_nvcc, "-Xptxas=-O2"},
    {k_nvcc, "--ptxas-options=--warn-on-spills"},
    {k_nvcc, "--fmad=false"},
    {k_nvcc, "-ftz=true"},
    {k_nvcc, "-prec-div=false"},
    {k_nvcc, "--prec-sqrt=true"},
    {k_nvcc, "--restrict"},
    {k_nvcc, "--default-stream=per-thread"},
    {k_nvcc, "--extra-device-vectorization"},
    {k_nvcc, "--diag-suppress=177"},
    {k_nvcc, "--diag-suppress=177,550"},
    {k_nvcc, "-diag-error=20012"},
    {k_nvcc, "-Xcudafe=--diag_suppress=unused_variable"},
    {k_nvcc, "-Wno-deprecated-gpu-targets"},
    {k_nvcc, "-U__CUDA_NO_HALF_OPERATORS__"},
    {k_nvcc, "-DVERSION_GE_1_1"},
    {k_nvcc, "-Xcompiler=-fopenmp"},
    {k_nvcc, "-Xcompiler=-Wno-psabi"},
    {k_nvcc, "--compiler-options=-O2"},
    {k_nvcc, "-res-usage"},
    {k_link, "-pthread"},
    {k_link, "-fopenmp"},
    {k_link, "-static-libstdc++"},
    {k_link, "-static-libgcc"},
    {k_link, "-s"},
    {k_link, "-Wl,-rpath,$ORIGIN"},
    {k_link, "-Wl,-rpath,$ORIGIN/../../dskernels"},
    {k_link, "-Wl,--as-needed"},
    {k_link, "-Wl,-z,now"},
    {k_link, "-Wl,--gc-sections"},
    {k_link, "-Wl,-Bsymbolic"},
    {k_link, "-Wl,--exclude-libs,ALL"},
};

const std::vector<FlagRow> k_bad = {
    {k_cxx, ""},
    {k_cxx, " "},
    {k_cxx, "x.cpp"},
    {k_cxx, "@file"},
    {k_cxx, "-o"},
    {k_cxx, "-ofile"},
    {k_cxx, "-c"},
    {k_cxx, "-S"},
    {k_cxx, "-E"},
    {k_cxx, "-x"},
    {k_cxx, "-std=c++20"},
    {k_cxx, "-O4"},
    {k_cxx, "-O3 -g"},
    {k_cxx, "-O3\n-g"},
    {k_cxx, " -O3"},
    {k_cxx, "-B."},
    {k_cxx, "-B/tmp"},
    {k_cxx, "-specs=x"},
    {k_cxx, "-fplugin=x.so"},
    {k_cxx, "-fplugin-arg-x-y"},
    {k_cxx, "-wrapper"},
    {k_cxx, "-include"},
    {k_cxx, "-include/etc/passwd"},
    {k_cxx, "-imacros"},
    {k_cxx, "-I/usr/include"},
    {k_cxx, "-I-"},
    {k_cxx, "-isystem"},
    {k_cxx, "-iquote."},
    {k_cxx, "-L../../"},
    {k_cxx, "-lm"},
    {k_cxx, "-Wl,-rpath,/x"},
    {k_cxx, "-Wa,-al=/x"},
    {k_cxx, "-Wp,-MD,/x"},
    {k_cxx, "-Wno-error,-o"},
    {k_cxx, "-Wl"},
    {k_cxx, "-MF"},
    {k_cxx, "-MD"},
    {k_cxx, "-MMD"},
    {k_cxx, "-march=native"},
    {k_cxx, "-mtune=native"},
    {k_cxx, "-mcpu=native"},
    {k_cxx, "-march=x;y"},
    {k_cxx, "-save-temps"},
    {k_cxx, "-fdump-tree-all"},
    {k_cxx, "-fprofile-use=/x"},
    {k_cxx, "-fprofile-dir=x"},
    {k_cxx, "-fsanitize=address"},
    {k_cxx, "-fuse-ld=/x"},
    {k_cxx, "-fdebug-prefix-map=a=b"},
    {k_cxx, "-flto"},
    {k_cxx, "-shared"},
    {k_cxx, "--sysroot=/x"},
    {k_cxx, "-T"},
    {k_cxx, "-D"},
    {k_cxx, "-D1X"},
    {k_cxx, "-DX=a b"},
    {k_cxx, "-DX=$(id)"},
    {k_cxx, "-DX=`id`"},
    {k_cxx, "-DX='a'"},
    {k_cxx, "-DX=\"a\""},
    {k_cxx, "-DX=a;b"},
    {k_cxx, "-DX=a,b"},
    {k_cxx, "-DF(x)=x"},
    {k_cxx, "-UX=1"},
    {k_cxx, "-Wall;id"},
    {k_cxx, "-"},
    {k_cxx, "--"},
    {k_cxx, "-O3\x7f"},
    {k_cxx, "\xc3\xa9"},
    {k_nvcc, "-ccbin"},
    {k_nvcc, "-ccbin=g++"},
    {k_nvcc, "--compiler-bindir=/x"},
    {k_nvcc, "-gencode=arch=compute_80,code=sm_80"},
    {k_nvcc, "-gencode"},
    {k_nvcc, "-arch=sm_80"},
    {k_nvcc, "--gpu-architecture=sm_80"},
    {k_nvcc, "-code=sm_80"},
    {k_nvcc, "--gpu-code=sm_80"},
    {k_nvcc, "-std=c++17"},
    {k_nvcc, "--std=c++17"},
    {k_nvcc, "--options-file=x"},
    {k_nvcc, "-optf"},
    {k_nvcc, "-dryrun"},
    {k_nvcc, "--dryrun"},
    {k_nvcc, "--run"},
    {k_nvcc, "-run"},
    {k_nvcc, "-keep"},
    {k_nvcc, "--keep-dir=/x"},
    {k_nvcc, "-o"},
    {k_nvcc, "--output-file=x"},
    {k_nvcc, "-odir"},
    {k_nvcc, "-cubin"},
    {k_nvcc, "-ptx"},
    {k_nvcc, "-rdc=true"},
    {k_nvcc, "-dc"},
    {k_nvcc, "--threads=8"},
    {k_nvcc, "-t8"},
    {k_nvcc, "--split-compile=0"},
    {k_nvcc, "-Xcompiler"},
    {k_nvcc, "-Xcompiler=-fopenmp,-o,/x"},
    {k_nvcc, "-Xcompiler=-B/x"},
    {k_nvcc, "-Xcompiler=-Wl,-rpath,/x"},
    {k_nvcc, "-Xcompiler=@f"},
    {k_nvcc, "-Xcompiler=-Xcompiler=-O2"},
    {k_nvcc, "-Xlinker=-rpath=/x"},
    {k_nvcc, "-Xptxas"},
    {k_nvcc, "-Xptxas=-v,-o,/x"},
    {k_nvcc, "--ptxas-options=-arch=sm_80"},
    {k_nvcc, "-Xnvlink=-v"},
    {k_nvcc, "-Xfatbin=-compress-all"},
    {k_nvcc, "-maxrregcount=1e3"},
    {k_nvcc, "-maxrregcount"},
    {k_nvcc, "--forward-unknown-to-host-compiler"},
    {k_nvcc, "-ldir=/x"},
    {k_nvcc, "-cudart=shared"},
    {k_nvcc, "-fmad=maybe"},
    {k_nvcc, "-I."},
    {k_nvcc, "-include=x.h"},
    {k_nvcc, "-clean"},
    {k_nvcc, "-prec-div"},
    {k_link, "-lcufile"},
    {k_link, "-l:libx.a"},
    {k_link, "-L/x"},
    {k_link, "-Wl,-rpath,$ORIGIN:/x"},
    {k_link, "-Wl,-rpath,$ORIGIN/$LIB"},
    {k_link, "-Wl,-rpath=/x"},
    {k_link, "-Wl,-T,/x"},
    {k_link, "-Wl,--version-script=/x"},
    {k_link, "-Wl,--as-needed,-o,/x"},
    {k_link, "-Wl,@f"},
    {k_link, "-Wl,--dynamic-linker=/x"},
    {k_link, "-Xlinker"},
    {k_link, "-fuse-ld=gold"},
    {k_link, "-shared"},
    {k_link, "-nostdlib"},
    {k_link, "x.o"},
    {k_link, "-static"},
    {k_link, "-plugin"},
    {k_link, "-fplugin=x"},
    {k_link, "-Wl,-z,execstack"},
};

TEST_CASE("flags that choose how code is generated are allowed") {
  REQUIRE(k_good.size() >= 60);
  for (const FlagRow& row : k_good) {
    INFO(row.flag);
    CHECK(flag_refusal(row.kind, row.flag) == "");
  }
}

TEST_CASE("flags that name files, tools, architectures or outputs, or carry other flags, are refused") {
  REQUIRE(k_bad.size() >= 60);
  for (const FlagRow& row : k_bad) {
    INFO(row.flag);
    CHECK(flag_refusal(row.kind, row.flag) != "");
  }
}

TEST_CASE("a nul byte, a comma's company or a great length gets no flag past the list") {
  CHECK(flag_refusal(k_cxx, std::string("-O3\0-o", 6)) != "");
  CHECK(flag_refusal(k_cxx, "-D" + std::string(100000, 'X')) == "is over 512 bytes long");
  for (const FlagRow& row : k_good) {
    INFO(row.flag);
    CHECK(flag_refusal(row.kind, std::string(row.flag) + ",-o,/x") != "");
    CHECK(flag_refusal(row.kind, std::string(row.flag) + " -o") != "");
    CHECK(flag_refusal(row.kind, std::string(row.flag) + "\n") != "");
  }
}

TEST_CASE("a refusal says which key is meant instead") {
  CHECK(flag_refusal(k_link, "-laio") == "is the libraries key's business");
  CHECK(flag_refusal(k_cxx, "-std=c++20") == "is the std key's business");
  CHECK(flag_refusal(k_cxx, "-Iinclude") == "is the include_dirs key's business");
  CHECK(flag_refusal(k_nvcc, "-arch=sm_80") ==
        "names an architecture; those come from --arch and the archs key");
  CHECK(flag_refusal(k_cxx, "-march=native") ==
        "makes the bundle depend on the machine that builds it; -march=baseline is what --cpu-baseline says");
  CHECK(flag_refusal(k_nvcc, "--threads=4") == "is the job control's business (--jobs, DS_NVCC_THREADS)");
  CHECK(flag_refusal(k_nvcc, "-dryrun") == "is not on the list of what flags.nvcc may hold");
}

}  // namespace
}  // namespace dsbuild
