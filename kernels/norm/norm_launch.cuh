// Launches of the backward pass's kernels, with what GPUs of sm_90 and newer have for them: clusters of
// blocks, and a second kernel that is launched while the first one still runs. Needs CUDA 12.1 for the one
// and 12.3 for the other; without, kernels are launched as ever.
#pragma once

#include <atomic>

#include "norm_stream_plan.cuh"

namespace dsbuild::ops {

// Of a question that may fail: CUDA keeps its last error, which no later launch must be taken to have.
inline bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

// Is the kernel's code on the current device of sm_90 or newer? PTX of an older architecture that the driver
// compiles for such a device is not. A library's kernels are all compiled for the same ones.
template <class Kernel>
bool is_of_sm90(Kernel* kernel) {
  constexpr int most_devices = 64;
  static std::atomic<int> known[most_devices];  // 1: no, 2: yes
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= most_devices) return false;
  if (known[device] == 0) {
    cudaFuncAttributes attributes{};
    const bool is_known = succeeded(cudaFuncGetAttributes(&attributes, kernel));
    known[device] = is_known && attributes.ptxVersion >= 90 ? 2 : 1;
  }
  return known[device] == 2;
}

#if CUDART_VERSION >= 12010
class Launch {
 public:
  Launch(dim3 blocks, dim3 threads, int shared_bytes, cudaStream_t stream) {
    config_.gridDim = blocks;
    config_.blockDim = threads;
    config_.dynamicSmemBytes = shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  void set_cluster(int blocks) {
    if (blocks == 1) return;
    cudaLaunchAttribute& cluster = attributes_[config_.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  }
  // The kernel waits by itself for the one before it (wait_for_kernel_before).
  void set_early() {
#if CUDART_VERSION >= 12030
    cudaLaunchAttribute& early = attributes_[config_.numAttrs++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
#endif
  }
  template <class... Parameters, class... Arguments>
  cudaError_t operator()(void (*kernel)(Parameters...), const Arguments&... arguments) const {
    return cudaLaunchKernelEx(&config_, kernel, Parameters(arguments)...);
  }
  // How many clusters run at once; 0: none.
  template <class Kernel>
  int resident_clusters(Kernel* kernel) const {
    int count = 0;
    return succeeded(cudaOccupancyMaxActiveClusters(&count, kernel, &config_)) ? count : 0;
  }

 private:
  cudaLaunchAttribute attributes_[2]{};
  cudaLaunchConfig_t config_{};
};
#else
class Launch {
 public:
  Launch(dim3 blocks, dim3 threads, int shared_bytes, cudaStream_t stream)
      : blocks_(blocks), threads_(threads), shared_bytes_(shared_bytes), stream_(stream) {}
  void set_cluster(int) {}
  void set_early() {}
  template <class... Parameters, class... Arguments>
  cudaError_t operator()(void (*kernel)(Parameters...), const Arguments&... arguments) const {
    // clang-format off
    kernel<<<blocks_, threads_, shared_bytes_, stream_>>>(arguments...);
    // clang-format on
    return cudaGetLastError();
  }
  template <class Kernel>
  int resident_clusters(Kernel*) const {
    return 0;
  }

 private:
  dim3 blocks_, threads_;
  int shared_bytes_;
  cudaStream_t stream_;
};
#endif

template <class Kernel, class... Arguments>
cudaError_t launch_stream(Kernel* kernel, const StreamPlan& plan, int blocks, cudaStream_t stream,
                          const Arguments&... arguments) {
  const cudaError_t error = allow_shared(kernel, plan.shared_bytes);
  if (error != cudaSuccess) return error;
  Launch launch(blocks, plan.layout.block_threads, plan.shared_bytes, stream);
  launch.set_cluster(plan.cluster);
  return launch(kernel, arguments...);
}

// How many of the plan's clusters run at once; 0 where the GPU or the kernel's code has none.
template <class Kernel>
int resident_clusters(Kernel* kernel, const StreamPlan& plan) {
  if (!is_of_sm90(kernel) || !succeeded(allow_shared(kernel, plan.shared_bytes))) return 0;
  Launch launch(plan.cluster, plan.layout.block_threads, plan.shared_bytes, nullptr);
  launch.set_cluster(plan.cluster);
  return launch.resident_clusters(kernel);
}

}  // namespace dsbuild::ops
