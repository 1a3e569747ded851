"""How fp8_linear finds cuBLASLt, and that what it declares of it is what the header says. Needs no GPU."""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"

CHECK = r"""
#include <cublasLt.h>
#include <type_traits>
#include "fp8_linear/cublaslt.h"
namespace own = dsbuild::ops::cublaslt;
#define SAME(ours, theirs) static_assert(static_cast<long>(own::ours) == static_cast<long>(theirs), #theirs)
SAME(k_success, CUBLAS_STATUS_SUCCESS);
SAME(k_not_supported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(k_32f, CUDA_R_32F);
SAME(k_16f, CUDA_R_16F);
SAME(k_16bf, CUDA_R_16BF);
SAME(k_8f_e4m3, CUDA_R_8F_E4M3);
SAME(k_8f_e5m2, CUDA_R_8F_E5M2);
SAME(k_compute_32f, CUBLAS_COMPUTE_32F);
SAME(k_op_n, CUBLAS_OP_N);
SAME(k_op_t, CUBLAS_OP_T);
SAME(k_epilogue_bias, CUBLASLT_EPILOGUE_BIAS);
SAME(k_transa, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(k_transb, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(k_epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(k_bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(k_a_scale_pointer, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
SAME(k_b_scale_pointer, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
SAME(k_fast_accum, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
SAME(k_bias_data_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
SAME(k_max_workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(k_min_alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(k_min_alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(k_min_alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(k_min_alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(own::Algorithm) == sizeof(cublasLtMatmulAlgo_t), "");
static_assert(sizeof(own::Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t), "");
static_assert(offsetof(own::Heuristic, workspace_size) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize), "");
static_assert(offsetof(own::Heuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state), "");
static_assert(sizeof(cublasStatus_t) == sizeof(own::Status) && sizeof(cublasComputeType_t) == sizeof(int), "");
static_assert(sizeof(cudaDataType) == sizeof(int) && sizeof(cublasLtMatmulDescAttributes_t) == sizeof(int), "");
// Pointers to functions of as many arguments, each as wide and of the same kind.
template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class Own, class Theirs>
struct Same;
template <class R, class... A, class S, class... B>
struct Same<R (*)(A...), S (*)(B...)> {
  static_assert(sizeof...(A) == sizeof...(B), "");
  static constexpr bool value = (alike<A, B> && ... && alike<R, S>);
};
#define FUNCTION(name) static_assert(Same<decltype(own::Library::name), decltype(&cublasLt##name)>::value, #name)
FUNCTION(GetVersion);
FUNCTION(GetStatusName);
FUNCTION(Create);
FUNCTION(MatmulDescCreate);
FUNCTION(MatmulDescDestroy);
FUNCTION(MatmulDescSetAttribute);
FUNCTION(MatrixLayoutCreate);
FUNCTION(MatrixLayoutDestroy);
FUNCTION(MatmulPreferenceCreate);
FUNCTION(MatmulPreferenceDestroy);
FUNCTION(MatmulPreferenceSetAttribute);
FUNCTION(MatmulAlgoGetHeuristic);
FUNCTION(Matmul);
"""

ASK = """
import tvm_ffi
try:
    print(tvm_ffi.load_module({library!r}).fp8_linear_cublaslt())
except RuntimeError as error:
    print("refused:", error)
"""


def header_folders():
    """Folders of toolkits that have cublasLt.h."""
    homes = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH", "DSBUILD_CUDA_11_8", "DSBUILD_CUDA_13")]
    folders = [os.path.join(home, "include") for home in [*homes, *glob.glob("/usr/local/cuda*")] if home]
    return sorted({os.path.realpath(folder) for folder in folders if os.path.exists(os.path.join(folder, "cublasLt.h"))})


class Declarations(unittest.TestCase):
    def test_they_are_those_of_the_header(self):
        folders = header_folders()
        if not folders:
            self.skipTest("no toolkit here has cublasLt.h")
        with tempfile.TemporaryDirectory() as work:
            source = pathlib.Path(work, "check.cpp")
            source.write_text(CHECK)
            for folder in folders:
                run = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", f"-I{KERNELS}", f"-isystem{folder}", source],
                                     capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, f"{folder}:\n{run.stderr}")

    def test_a_wrong_one_is_seen(self):
        folders = header_folders()
        if not folders:
            self.skipTest("no toolkit here has cublasLt.h")
        with tempfile.TemporaryDirectory() as work:
            source = pathlib.Path(work, "check.cpp")
            source.write_text(CHECK + "SAME(k_op_t, CUBLAS_OP_N);\n")
            run = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", f"-I{KERNELS}", f"-isystem{folders[0]}", source],
                                 capture_output=True, text=True)
            self.assertIn("CUBLAS_OP_N", run.stderr)


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("DSBUILD_BUNDLE", ""), "fp8_linear.so")),
                     "DSBUILD_BUNDLE has no fp8_linear")
class Finding(unittest.TestCase):
    def ask(self, before="", **env):
        library = os.path.join(os.environ["DSBUILD_BUNDLE"], "fp8_linear.so")
        run = subprocess.run([sys.executable, "-c", before + ASK.format(library=library)], capture_output=True, text=True,
                             env={**os.environ, **env})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.strip()

    def test_without_it_the_error_names_the_packages(self):
        with tempfile.TemporaryDirectory() as work:
            shim = os.path.join(work, "shim.so")
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, os.path.join(os.path.dirname(__file__), "no_cublaslt.c"),
                            "-ldl"], check=True)
            said = self.ask(LD_PRELOAD=shim)
        self.assertTrue(said.startswith(
            "refused: fp8_linear_cublaslt: cuBLASLt is not there; install the package nvidia-cublas (CUDA 13) or "
            "nvidia-cublas-cu12 (CUDA 12), as torch does; looked for:"), said)
        self.assertIn("libcublasLt.so.12 on the loader's path (nvidia-cublas-cu12)", said)
        self.assertRegex(said, r"\n  /.*/nvidia/cublas/lib/libcublasLt\.so\.12")

    def test_what_the_process_has_already_is_taken(self):
        found = glob.glob("/usr/local/cuda*/lib*/libcublasLt.so.1[23]")
        if not found:
            self.skipTest("no cuBLASLt is here")
        with tempfile.TemporaryDirectory() as work:
            copy = os.path.join(work, os.path.basename(found[0]))
            os.symlink(os.path.realpath(found[0]), copy)
            said = self.ask(f"import ctypes; ctypes.CDLL({copy!r})\n")
        self.assertTrue(said.endswith(copy), said)


if __name__ == "__main__":
    unittest.main()
