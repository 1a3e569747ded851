// hipRAND's host side, as DeepSpeed names it.
#pragma once

typedef struct dsbuild_hiprand* hiprandGenerator_t;
enum hiprandStatus_t { HIPRAND_STATUS_SUCCESS };
enum hiprandRngType_t { HIPRAND_RNG_PSEUDO_DEFAULT = 400 };
extern "C" {
hiprandStatus_t hiprandCreateGenerator(hiprandGenerator_t* generator, hiprandRngType_t type);
hiprandStatus_t hiprandSetPseudoRandomGeneratorSeed(hiprandGenerator_t generator, unsigned long long seed);
}
