// hipSOLVER's names in torch's headers.
#pragma once

typedef void* hipsolverHandle_t;
typedef void* hipsolverDnHandle_t;
enum hipsolverStatus_t { HIPSOLVER_STATUS_SUCCESS, HIPSOLVER_STATUS_INVALID_VALUE };
