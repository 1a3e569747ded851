// hipSPARSE's names in torch's headers.
#pragma once

typedef struct dsbuild_hipsparse* hipsparseHandle_t;
enum hipsparseStatus_t { HIPSPARSE_STATUS_SUCCESS };
extern "C" const char* hipsparseGetErrorString(hipsparseStatus_t status);
