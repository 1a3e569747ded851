// HIP's headers for g++: kernels run on the CPU, block after block, a context for each lane. WAVEFRONT is how
// many lanes a wavefront has, 32 or 64. Exchanges between lanes do what AMD's headers do with their width; a
// lane that is not there gives a number that no test expects. `kernel<<<grid, block, 0, stream>>>(…)` is to
// be written as `hip_cpu::launch(grid, block, [&] { kernel(…); })`.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __shared__ static
#define __launch_bounds__(...)

enum hipError_t : uint32_t { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorInvalidConfiguration = 9 };
struct ihipStream_t;
using hipStream_t = ihipStream_t*;
inline hipError_t hipGetLastError() {
  return hipSuccess;
}
hipError_t hipGetDevice(int*);
hipError_t hipSetDevice(int);
const char* hipGetErrorString(hipError_t);
const char* hipGetErrorName(hipError_t);

struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct hip_cpu_dim3 {
  uint32_t x, y, z;
};
inline hip_cpu_dim3 threadIdx, blockIdx, blockDim;

namespace hip_cpu {

// Of lanes that come and of those that end.
struct Barrier {
  int members = 0;
  int arrived = 0;
  int64_t generation = 0;

  void pass_if_all() {
    if (arrived < members) return;
    arrived = 0;
    ++generation;
  }
};

struct Lane {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[k_stack]};
  bool done = false;
  static constexpr size_t k_stack = 128 * 1024;
};

struct Block {
  std::vector<Lane> lanes;
  std::vector<Barrier> wavefronts;
  Barrier whole;
  std::vector<uint64_t> slots;  // what lanes show each other
  ucontext_t scheduler;
  const std::function<void()>* work;
};
inline Block* g_block;

inline void wait_at(Barrier& barrier) {
  const uint32_t own = threadIdx.x;
  const int64_t generation = barrier.generation;
  ++barrier.arrived;
  barrier.pass_if_all();
  while (barrier.generation == generation)
    swapcontext(&g_block->lanes[own].context, &g_block->scheduler);
}

inline void end_lane() {
  Block& b = *g_block;
  b.lanes[threadIdx.x].done = true;
  b.slots[threadIdx.x] = ~uint64_t{0};
  for (Barrier* barrier : {&b.wavefronts[threadIdx.x / WAVEFRONT], &b.whole}) {
    --barrier->members;
    if (barrier->arrived > 0) barrier->pass_if_all();
  }
}

inline void run_lane() {
  (*g_block->work)();
  end_lane();
}

inline void run_block(uint32_t threads, const std::function<void()>& work) {
  Block b;
  g_block = &b;
  b.work = &work;
  b.lanes = std::vector<Lane>(threads);
  b.slots.assign((threads + WAVEFRONT - 1) / WAVEFRONT * WAVEFRONT, ~uint64_t{0});
  b.wavefronts.resize((threads + WAVEFRONT - 1) / WAVEFRONT);
  b.whole.members = static_cast<int>(threads);
  for (uint32_t i = 0; i < threads; ++i) {
    ++b.wavefronts[i / WAVEFRONT].members;
    getcontext(&b.lanes[i].context);
    b.lanes[i].context.uc_stack.ss_sp = b.lanes[i].stack.get();
    b.lanes[i].context.uc_stack.ss_size = Lane::k_stack;
    b.lanes[i].context.uc_link = &b.scheduler;
    makecontext(&b.lanes[i].context, run_lane, 0);
  }
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (uint32_t i = 0; i < threads; ++i) {
      if (b.lanes[i].done) continue;
      all_done = false;
      threadIdx = {i, 0, 0};
      swapcontext(&b.scheduler, &b.lanes[i].context);
    }
  }
}

inline void launch(uint32_t grid, uint32_t block, const std::function<void()>& work) {
  blockDim = {block, 1, 1};
  for (uint32_t i = 0; i < grid; ++i) {
    blockIdx = {i, 0, 0};
    run_block(block, work);
  }
}

// What lane `index` of the own wavefront shows.
template <class T>
T of_lane(T value, int index) {
  Block& b = *g_block;
  const uint32_t own = threadIdx.x;
  const uint32_t first = own / WAVEFRONT * WAVEFRONT;
  std::memcpy(&b.slots[own], &value, sizeof value);
  wait_at(b.wavefronts[own / WAVEFRONT]);
  T shown;
  std::memcpy(&shown, &b.slots[first + static_cast<uint32_t>(index)], sizeof shown);
  wait_at(b.wavefronts[own / WAVEFRONT]);
  return shown;
}

}  // namespace hip_cpu

constexpr int warpSize = WAVEFRONT;

inline void __syncthreads() {
  hip_cpu::wait_at(hip_cpu::g_block->whole);
}

// Source: amd_warp_functions.h.
template <class T>
T __shfl_xor(T value, int lane_mask, int width = warpSize) {
  const int self = static_cast<int>(threadIdx.x % WAVEFRONT);
  const int index = self ^ lane_mask;
  return hip_cpu::of_lane(value, index >= ((self + width) & ~(width - 1)) ? self : index);
}
template <class T>
T __shfl_down(T value, unsigned lane_delta, int width = warpSize) {
  const int self = static_cast<int>(threadIdx.x % WAVEFRONT);
  const int delta = static_cast<int>(lane_delta);
  return hip_cpu::of_lane(value, (self & (width - 1)) + delta >= width ? self : self + delta);
}

inline float __uint_as_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t __float_as_uint(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
template <class T>
T __ldg(const T* from) {
  return *from;
}
inline int min(int a, int b) {
  return a < b ? a : b;
}
inline int max(int a, int b) {
  return a > b ? a : b;
}
