// hipBLASLt's handle: torch's headers name it.
#pragma once

typedef void* hipblasLtHandle_t;
