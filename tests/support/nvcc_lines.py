"""Random command lines of nvcc's: compiles in all spellings, and what is none. Source of the spellings: `nvcc --help`."""

import os
import random
import shutil

SOURCES = {
    "a.cu": '#include "inc/a.h"\n'
            "__global__ void fill(float* x) { x[threadIdx.x] = twice(SCALE * threadIdx.x); }\n"
            "float host_of_a(float* x) { fill<<<1, 32>>>(x); return twice(2.f); }\n",
    "csrc/b.cu": '#include "../inc/a.h"\n#include <cstdint>\n'
                 "static __device__ int counter;\n"
                 "namespace { __global__ void count() { atomicAdd(&counter, 1); } }\n"
                 "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n#include <cuda_bf16.h>\n#endif\n"
                 "int b_of_host() { count<<<1, 1>>>(); int never_used; return sizeof(std::int64_t); }\n",
    "csrc/with blank.cu": '#include "../inc/with blank.h"\n'
                          "template <int N> __global__ void k(int* x) { *x = N; }\n"
                          "void with_blank(int* x) { k<1><<<1, 1>>>(x); k<2><<<1, 1>>>(x); }\n",
    "none.cu": "int no_kernel() { return __LINE__; }\nconst char* name() { return __FILE__; }\n",
    "bad.cu": "__global__ void k() { undeclared(); }\n",
    "device_code": "__global__ void of_no_end(int* x) { *x = 1; }\nvoid f(int* x) { of_no_end<<<1, 1>>>(x); }\n",
    "plain.cpp": "int plain() { return 1; }\n",
}
HEADERS = {
    "inc/a.h": "#pragma once\n#ifndef SCALE\n#define SCALE 1\n#endif\n"
               "__host__ __device__ inline float twice(float v) { return 2 * v; }\n",
    "inc/with blank.h": "// nothing\n",
    "sys/system_header.h": "struct OfTheSystem {};\n",
    "flags.txt": "-O2 -DFROM_FILE=1\n",
}


def write_project(folder):
    for name, text in {**SOURCES, **HEADERS}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Lines:
    def __init__(self, seed, archs):
        self.random = random.Random(seed)
        self.archs = archs

    def spelled(self, short, long, value):
        """An option with its value, as nvcc takes it."""
        return self.random.choice([[short, value], [f"{short}={value}"], [long, value], [f"{long}={value}"]])

    def targets(self):
        archs = self.random.sample(self.archs, self.random.choice([1, 1, 2]))
        kind = self.random.randrange(6)
        if kind == 0:
            return self.spelled("-arch", "--gpu-architecture", f"sm_{archs[0]}")
        if kind == 1:
            return [*self.spelled("-arch", "--gpu-architecture", f"compute_{archs[0]}"),
                    *self.spelled("-code", "--gpu-code", f"sm_{archs[0]},compute_{archs[0]}")]
        words = []
        for arch in archs:
            code = self.random.choice([f"sm_{arch}", f"sm_{arch}", f"[sm_{arch},compute_{arch}]", f"compute_{arch}"])
            words += self.spelled("-gencode", "--generate-code", f"arch=compute_{arch},code={code}")
        return words

    def flags(self):
        pool = [["-O3"], ["-O1"], ["--optimize", "2"], ["-std=c++17"], ["--std", "c++17"], ["-use_fast_math"], ["--ftz=true"],
                ["-lineinfo"], ["-Xcompiler", "-fPIC"], ["-Xcompiler=-fPIC,-Wall"], ["--compiler-options", "'-fPIC'"],
                ["-Xptxas", "-v"], ["-Xptxas=-O2"], ["--ptxas-options=-v"], ["-w"], ["-DSCALE=3"], ["-D", "SCALE=3"],
                ["-DTEXT=\"words\""], ["-USCALE"], ["--expt-relaxed-constexpr"], ["--expt-extended-lambda"], ["-m64"],
                ["-Isys"], ["-I", "inc"], ["-isystem", "sys"], ["-isystem=sys"], ["-maxrregcount=32"], ["--threads=2"], ["-t", "2"],
                ["-rdc=true"], ["-G"], ["-g"], ["--fmad=false"], ["-Werror", "all-warnings"], ["-diag-suppress", "177"],
                ["-include", "inc/a.h"], ["-cudart", "shared"], ["--default-stream", "per-thread"], ["-optf", "flags.txt"],
                ["-res-usage"], ["--restrict"], ["-Xfatbin=-compress-all"], ["-lfoo"], ["-Lsys"], ["-split-compile", "2"],
                ["--keep-device-functions"], ["-extra-device-vectorization"], ["-prec-div=false"], ["-Wno-deprecated-gpu-targets"]]
        rare = [["-rdc=true"], ["-G"], ["-g"], ["-lineinfo"], ["-split-compile", "2"]]
        chosen = self.random.sample(pool, self.random.randrange(6))
        kept = [flag for flag in chosen if flag not in rare or self.random.random() < 0.4]
        if self.random.random() < 0.08:
            kept.append(self.host_compiler())
        return [word for flag in kept for word in flag]

    def host_compiler(self):
        """The one that nvcc takes by itself, by its name, its path and its folder."""
        path = shutil.which("g++") or "g++"
        return self.spelled("-ccbin", "--compiler-bindir", self.random.choice(["g++", path, os.path.dirname(path) or "."]))

    def depfile(self):
        kind = self.random.choice(["", "", "-MD", "-MD", "-MMD", "--generate-dependencies-with-compile"])
        if not kind:
            return []
        words = [[kind]]
        if self.random.random() < 0.6:
            words.append(self.spelled("-MF", "--dependency-output", "out/deps.d"))
        if self.random.random() < 0.3:
            words.append(self.spelled("-MT", "--dependency-target-name", "the/target"))
        if self.random.random() < 0.3:
            words.append(["-MP"])
        self.random.shuffle(words)
        return [word for part in words for word in part]

    def line(self):
        """One command line; most are compiles that can be sliced."""
        kind = self.random.random()
        if kind < 0.12:
            return self.other()
        source = self.random.choice(["a.cu", "a.cu", "csrc/b.cu", "csrc/b.cu", "csrc/with blank.cu", "none.cu"])
        phase = [self.random.choice(["-c", "-c", "--compile"])]
        source_words = [source]
        if kind < 0.16:
            source_words = [*self.random.choice([["-x", "cu"], ["-x=cu"], ["--x", "cu"]]), "device_code"]
        output = self.random.choice([self.spelled("-o", "--output-file", "out/a.o")] * 3 + [[]])
        parts = [self.targets(), self.flags(), self.depfile(), phase, source_words, output]
        self.random.shuffle(parts)
        return [word for part in parts for word in part]

    def other(self):
        arch = ["-arch", f"sm_{self.archs[0]}"]
        return self.random.choice([
            ["--version"], ["--help"], ["-ptx", *arch, "a.cu"], ["-cubin", *arch, "a.cu", "-o", "out/a.cubin"],
            ["-E", "none.cu", "-o", "out/none.ii"], ["-M", "a.cu"], ["-MM", "a.cu", "-MF", "out/deps.d"], ["-c", "plain.cpp"],
            ["-c", *arch, "a.cu", "none.cu"], ["-c", *arch, "bad.cu"], ["-c", "missing.cu"], ["-c", *arch, "a.cu", "--no-such-flag"],
            ["-c", *arch, "-dryrun", "a.cu"], ["-fatbin", *arch, "a.cu", "-o", "out/a.fatbin"], ["-dc", *arch, "a.cu", "-o", "out/a.o"],
            ["-c", *arch, "a.cu", "-MF", "out/deps.d"], ["-c", *arch, "a.cu", "-o", "out/no/folder.o"], ["-c", "-arch=sm_1", "a.cu"],
            [], ["-c", *arch, "a.cu", "-o"], ["-lib", "plain.cpp", "-o", "out/lib.a"], ["-c", *arch, "a.cu", "-MD", "-MT", "x", "-MT", "y"],
            ["-shared", *arch, "none.cu", "-o", "out/lib.so", "-Xcompiler", "-fPIC"]])
