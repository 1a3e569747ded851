#include "integer_codecs.cuh"
#include "quantizer.h"

namespace dsbuild::ops {

cudaError_t launch_quantize(const GroupedValues& arrays, int bits, cudaStream_t stream) {
  return launch_integers<QuantizeGroups>(arrays, bits, stream);
}

}  // namespace dsbuild::ops
