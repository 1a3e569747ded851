// hipBLAS's types and what DeepSpeed calls, as declarations: enough to compile.
#pragma once

#include <hip/hip_runtime_api.h>
#include <cstdint>

typedef struct dsbuild_hipblas* hipblasHandle_t;
enum hipblasStatus_t { HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_UNKNOWN };
enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T, HIPBLAS_OP_C };
enum hipblasGemmAlgo_t { HIPBLAS_GEMM_DEFAULT = 160 };
enum hipblasPointerMode_t { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE };
enum hipblasMath_t { HIPBLAS_DEFAULT_MATH, HIPBLAS_TENSOR_OP_MATH };
enum hipblasDatatype_t { HIPBLAS_R_16F = 150, HIPBLAS_R_32F, HIPBLAS_R_64F, HIPBLAS_R_16B = 168 };
enum hipblasComputeType_t { HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_32F = 2, HIPBLAS_COMPUTE_32F_FAST_TF32 = 6 };

extern "C" {
hipblasStatus_t hipblasCreate(hipblasHandle_t* handle);
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle);
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream);
hipblasStatus_t hipblasSetMathMode(hipblasHandle_t handle, hipblasMath_t mode);
const char* hipblasStatusToString(hipblasStatus_t status);
}

typedef hipblasDatatype_t dsbuild_operand;  // with HIPBLAS_V2 hipDataType, which has the same values
extern "C" {
hipblasStatus_t hipblasGemmEx(hipblasHandle_t handle, hipblasOperation_t a_form, hipblasOperation_t b_form,
                              int m, int n, int k, const void* alpha, const void* a, dsbuild_operand a_type,
                              int lda, const void* b, dsbuild_operand b_type, int ldb, const void* beta,
                              void* c, dsbuild_operand c_type, int ldc, hipblasComputeType_t compute,
                              hipblasGemmAlgo_t algorithm);
hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t handle, hipblasOperation_t a_form,
                                            hipblasOperation_t b_form, int m, int n, int k, const void* alpha,
                                            const void* a, dsbuild_operand a_type, int lda,
                                            long long a_stride, const void* b, dsbuild_operand b_type,
                                            int ldb, long long b_stride, const void* beta, void* c,
                                            dsbuild_operand c_type, int ldc, long long c_stride, int batches,
                                            hipblasComputeType_t compute, hipblasGemmAlgo_t algorithm);
}
