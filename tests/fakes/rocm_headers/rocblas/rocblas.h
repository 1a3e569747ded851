// rocBLAS's types, as DeepSpeed names them.
#pragma once

typedef struct dsbuild_rocblas* rocblas_handle;
enum rocblas_status { rocblas_status_success };
enum rocblas_operation { rocblas_operation_none = 111, rocblas_operation_transpose };
enum rocblas_datatype { rocblas_datatype_f16_r = 150, rocblas_datatype_f32_r };
enum rocblas_gemm_algo { rocblas_gemm_algo_standard };
