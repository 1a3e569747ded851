// What Python calls: ops/native/cpu_adam/functions.yaml; the formulas: docs/ops.md.
#include <algorithm>
#include <atomic>
#include <string>

#include "adam_arguments.h"
#include "cpu_adam.h"

namespace dsbuild::ops {
namespace {

// Elements per task: few enough to share a tensor among threads, and whole vectors. As it is fixed, the
// number of threads does not change which elements the vector loop takes, nor a bit of the result.
constexpr int64_t k_task_elements = 16384;

const CpuPath* fastest_path() {
  return std::find_if(k_cpu_paths, k_cpu_paths + k_cpu_path_count,
                      [](const CpuPath& p) { return p.usable(); });
}

// Of the whole process.
std::atomic<const CpuPath*>& chosen_path() {
  static std::atomic<const CpuPath*> path{fastest_path()};
  return path;
}

struct Task {
  AdamRun run;
  FloatType grad_type;
};

// One tensor, cut into tasks.
void add_tasks(const TensorArgument& param, const TensorArgument& grad, const TensorArgument& exp_avg,
               const TensorArgument& exp_avg_sq, std::vector<Task>& tasks) {
  check_dtype(param, {k_float32});
  const FloatType grad_type = float_type(grad);
  const int64_t grad_bytes = grad_type == FloatType::float32 ? 4 : 2;
  const int64_t count = param.view.numel();
  for (int64_t begin = 0; begin < count; begin += k_task_elements) {
    const int64_t length = std::min(k_task_elements, count - begin);
    tasks.push_back(
        {{elements<float>(param) + begin, elements<const char>(grad) + begin * grad_bytes,
          elements<float>(exp_avg) + begin, elements<float>(exp_avg_sq) + begin, static_cast<size_t>(length)},
         grad_type});
  }
}

tvm::ffi::Any cpu_adam_step(Arguments& arguments) {
  const AdamTensors t = read_adam_tensors(arguments, kDLCPU);
  const AdamCoefficients coefficients = adam_coefficients(read_adam_options(arguments));
  std::vector<Task> tasks;
  for (size_t i = 0; i < t.params.size(); ++i) {
    add_tasks(t.params[i], t.grads[i], t.exp_avgs[i], t.exp_avg_sqs[i], tasks);
  }
  const CpuPath* path = chosen_path();
  const int64_t count = static_cast<int64_t>(tasks.size());
#pragma omp parallel for schedule(static) if (count > 1)
  for (int64_t i = 0; i < count; ++i)
    path->step(coefficients, tasks[i].run, tasks[i].grad_type);
  return {};
}

tvm::ffi::Any cpu_adam_isa(Arguments& arguments) {
  arguments.end();
  return tvm::ffi::String(chosen_path().load()->name);
}

// "auto" is the fastest that the CPU can run.
tvm::ffi::Any cpu_adam_use_isa(Arguments& arguments) {
  const std::string name = arguments.text("name");
  arguments.end();
  const CpuPath* const end = k_cpu_paths + k_cpu_path_count;
  const CpuPath* path =
      name == "auto" ? fastest_path()
                     : std::find_if(k_cpu_paths, end, [&](const CpuPath& p) { return name == p.name; });
  if (path == end) {
    std::string names = "auto";
    for (const CpuPath* known = k_cpu_paths; known != end; ++known)
      names += std::string(", ") + known->name;
    TVM_FFI_THROW(ValueError) << arguments.where("name") << ": expected one of " << names << ", got " << name;
  }
  if (!path->usable()) {
    TVM_FFI_THROW(ValueError) << arguments.where("name") << ": this CPU cannot run " << name;
  }
  chosen_path() = path;
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(cpu_adam_step, dsbuild::ops::cpu_adam_step)
DSBUILD_EXPORT(cpu_adam_isa, dsbuild::ops::cpu_adam_isa)
DSBUILD_EXPORT(cpu_adam_use_isa, dsbuild::ops::cpu_adam_use_isa)
