// A step of a CPU optimiser over lists of tensors, shared among OpenMP threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_run.h"
#include "optimizer_arguments.h"

namespace dsbuild::ops {

// Elements per task: few enough to share a tensor among threads, and whole vectors. As it is fixed, the
// number of threads does not change which elements the vector loop takes, nor a bit of the result.
constexpr int64_t k_task_elements = 16384;

struct CpuTask {
  CpuRun run;
  FloatType grad_type;
};

// Tensor `i` of the lists, cut into tasks.
inline void add_tasks(const StepTensors& t, size_t i, std::vector<CpuTask>& tasks) {
  check_dtype(t.params[i], {k_float32});
  const FloatType grad_type = float_type(t.grads[i]);
  const int64_t count = t.params[i].view.numel();
  for (int64_t begin = 0; begin < count; begin += k_task_elements) {
    CpuRun run{elements<float>(t.params[i]) + begin,
               elements<const char>(t.grads[i]) + begin * static_cast<int64_t>(grad_bytes(grad_type)),
               {},
               static_cast<size_t>(std::min(k_task_elements, count - begin))};
    for (size_t s = 0; s < t.states.size(); ++s)
      run.states[s] = elements<float>(t.states[s][i]) + begin;
    tasks.push_back({run, grad_type});
  }
}

// All arguments have been read and checked but the dtypes of params and grads, which are checked here first.
template <class Coefficients>
void run_cpu_step(CpuStep<Coefficients>* step, const StepTensors& t, const Coefficients& coefficients) {
  std::vector<CpuTask> tasks;
  for (size_t i = 0; i < t.params.size(); ++i)
    add_tasks(t, i, tasks);
  const int64_t count = static_cast<int64_t>(tasks.size());
#pragma omp parallel for schedule(static) if (count > 1)
  for (int64_t i = 0; i < count; ++i)
    step(coefficients, tasks[i].run, tasks[i].grad_type);
}

}  // namespace dsbuild::ops
