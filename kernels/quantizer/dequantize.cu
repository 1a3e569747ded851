#include "integer_codecs.cuh"
#include "quantizer.h"

namespace dsbuild::ops {

cudaError_t launch_dequantize(const GroupedValues& arrays, int bits, cudaStream_t stream) {
  return launch_integers<DequantizeGroups>(arrays, bits, stream);
}

}  // namespace dsbuild::ops
