#include "matmul.h"

#include <map>
#include <mutex>
#include <tuple>

#include "cublaslt.h"

namespace dsbuild::ops {
namespace {

using cublaslt::Library;

constexpr int64_t k_step = 16;        // sizes that cuBLASLt takes for 8-bit floats are multiples of it
constexpr uintptr_t k_aligned = 256;  // more does not matter to cuBLASLt
constexpr size_t k_most_plans = 4096;

int64_t up_to(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

int64_t bytes_of(FloatType type) {
  return type == FloatType::float32 ? 4 : 2;
}

int data_type(FloatType type) {
  if (type == FloatType::float32) return cublaslt::k_32f;
  return type == FloatType::float16 ? cublaslt::k_16f : cublaslt::k_16bf;
}

int data_type(Fp8Format format) {
  return format == Fp8Format::e4m3 ? cublaslt::k_8f_e4m3 : cublaslt::k_8f_e5m2;
}

// The power of two that the address is a multiple of.
uint32_t alignment(const void* pointer) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  uintptr_t power = k_aligned;
  while (address % power != 0)
    power /= 2;
  return static_cast<uint32_t>(power);
}

// ---- sizes that are no multiples of 16: copies with zeros behind

// Where the copies lie in the workspace, behind cuBLASLt's own part; -1: none is needed.
struct Copies {
  int64_t a = -1, b = -1, bias = -1, out = -1;
  int64_t inner, columns;  // as multiplied
  int64_t end;
};

Copies copies_for(int64_t rows, int64_t columns, int64_t inner) {
  Copies c;
  c.inner = up_to(inner, k_step);
  c.columns = up_to(columns, k_step);
  c.end = k_cublaslt_workspace;
  const auto take = [&c](int64_t bytes) {
    const int64_t begin = c.end;
    c.end += up_to(bytes, static_cast<int64_t>(k_aligned));
    return begin;
  };
  if (c.inner != inner) c.a = take(rows * c.inner);
  if (c.inner != inner || c.columns != columns) c.b = take(c.columns * c.inner);
  if (c.columns != columns) {
    c.bias = take(c.columns * 4);
    c.out = take(rows * c.columns * 4);  // of the largest type
  }
  return c;
}

struct Rows {
  const void* data;
  int64_t count, bytes;  // rows, and bytes of one
};

// Copies the rows to `to`, which has `count` rows of `bytes`; what is beyond is 0.
cudaError_t copy_padded(const Rows& from, void* to, int64_t count, int64_t bytes, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(to, 0, static_cast<size_t>(count * bytes), stream);
  if (error != cudaSuccess) return error;
  return cudaMemcpy2DAsync(to, static_cast<size_t>(bytes), from.data, static_cast<size_t>(from.bytes),
                           static_cast<size_t>(from.bytes), static_cast<size_t>(from.count),
                           cudaMemcpyDeviceToDevice, stream);
}

// Makes the copies, and `m` a product of them.
cudaError_t use_copies(Fp8Matmul& m, const Copies& c, uint8_t* workspace, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (c.a >= 0) {
    error = copy_padded({m.a, m.rows, m.inner}, workspace + c.a, m.rows, c.inner, stream);
    m.a = workspace + c.a;
  }
  if (error == cudaSuccess && c.b >= 0) {
    error = copy_padded({m.b, m.columns, m.inner}, workspace + c.b, c.columns, c.inner, stream);
    m.b = workspace + c.b;
  }
  if (error == cudaSuccess && c.bias >= 0 && m.bias != nullptr) {
    const int64_t size = bytes_of(m.bias_type);
    error = copy_padded({m.bias, 1, m.columns * size}, workspace + c.bias, 1, c.columns * size, stream);
    m.bias = workspace + c.bias;
  }
  if (c.out >= 0) m.out = workspace + c.out;
  m.inner = c.inner;
  m.columns = c.columns;
  return error;
}

// ---- plans: what cuBLASLt is asked once for products that are alike

using Key = std::tuple<int, int64_t, int64_t, int64_t, Fp8Format, Fp8Format, FloatType, bool, FloatType, bool,
                       uint32_t, uint32_t, uint32_t>;

Key key_of(const Fp8Matmul& m, int device) {
  return {device,         m.rows,         m.columns,         m.inner,     m.a_format,
          m.b_format,     m.out_type,     m.bias != nullptr, m.bias_type, m.split_accumulator,
          alignment(m.a), alignment(m.b), alignment(m.out)};
}

struct Plan {
  cublaslt::MatmulDesc desc = nullptr;
  cublaslt::MatrixLayout a = nullptr, b = nullptr, out = nullptr;
  cublaslt::Heuristic choice{};
};

struct State {
  std::mutex mutex;  // a plan's descriptor is changed by each call
  std::map<int, cublaslt::Handle> handles;
  std::map<Key, Plan> plans;
};

// Never destroyed: CUDA may be gone before static objects are.
State& state() {
  static State& all = *new State;
  return all;
}

// Calls of cuBLASLt until the first that fails.
class Calls {
 public:
  explicit Calls(const Library& library) : library_(library) {}

  template <class Call, class... Arguments>
  void call(const char* name, Call call, Arguments... arguments) {
    if (!error_.empty()) return;
    const cublaslt::Status status = call(arguments...);
    if (status != cublaslt::k_success) fail(name, status);
  }
  template <class Value>
  void set(cublaslt::MatmulDesc desc, cublaslt::DescAttribute attribute, const Value& value) {
    call("MatmulDescSetAttribute", library_.MatmulDescSetAttribute, desc, static_cast<int>(attribute),
         static_cast<const void*>(&value), sizeof value);
  }
  template <class Value>
  void set(cublaslt::Preference preference, cublaslt::PreferenceAttribute attribute, const Value& value) {
    call("MatmulPreferenceSetAttribute", library_.MatmulPreferenceSetAttribute, preference,
         static_cast<int>(attribute), static_cast<const void*>(&value), sizeof value);
  }
  void fail(const char* name, cublaslt::Status status) {
    if (!error_.empty()) return;
    error_ = std::string("cublasLt") + name + ": " + library_.GetStatusName(status) + " (cuBLASLt " +
             std::to_string(library_.GetVersion()) + ", " + library_.path + ")";
  }
  const std::string& error() const { return error_; }

 private:
  const Library& library_;
  std::string error_;
};

void destroy(const Library& library, const Plan& plan) {
  if (plan.desc != nullptr) library.MatmulDescDestroy(plan.desc);
  for (const cublaslt::MatrixLayout layout : {plan.a, plan.b, plan.out}) {
    if (layout != nullptr) library.MatrixLayoutDestroy(layout);
  }
}

void set_pointers(Calls& calls, const Plan& plan, const Fp8Matmul& m) {
  calls.set(plan.desc, cublaslt::k_a_scale_pointer, m.b_scale);
  calls.set(plan.desc, cublaslt::k_b_scale_pointer, m.a_scale);
  if (m.bias != nullptr) calls.set(plan.desc, cublaslt::k_bias_pointer, m.bias);
}

void describe(Calls& calls, const Library& library, Plan& plan, const Fp8Matmul& m) {
  calls.call("MatmulDescCreate", library.MatmulDescCreate, &plan.desc, cublaslt::k_compute_32f,
             static_cast<int>(cublaslt::k_32f));
  calls.set(plan.desc, cublaslt::k_transa, cublaslt::k_op_t);
  calls.set(plan.desc, cublaslt::k_transb, cublaslt::k_op_n);
  calls.set(plan.desc, cublaslt::k_fast_accum, static_cast<int8_t>(m.split_accumulator ? 0 : 1));
  if (m.bias != nullptr) {
    calls.set(plan.desc, cublaslt::k_epilogue, cublaslt::k_epilogue_bias);
    calls.set(plan.desc, cublaslt::k_bias_data_type, static_cast<int32_t>(data_type(m.bias_type)));
  }
  set_pointers(calls, plan, m);
  const auto layout = [&](cublaslt::MatrixLayout* to, int type, int64_t rows, int64_t columns) {
    calls.call("MatrixLayoutCreate", library.MatrixLayoutCreate, to, type, static_cast<uint64_t>(rows),
               static_cast<uint64_t>(columns), rows);
  };
  layout(&plan.a, data_type(m.b_format), m.inner, m.columns);
  layout(&plan.b, data_type(m.a_format), m.inner, m.rows);
  layout(&plan.out, data_type(m.out_type), m.columns, m.rows);
}

void choose(Calls& calls, const Library& library, Plan& plan, const Fp8Matmul& m, cublaslt::Handle handle) {
  cublaslt::Preference preference = nullptr;
  calls.call("MatmulPreferenceCreate", library.MatmulPreferenceCreate, &preference);
  calls.set(preference, cublaslt::k_max_workspace_bytes, static_cast<uint64_t>(k_cublaslt_workspace));
  calls.set(preference, cublaslt::k_min_alignment_a, alignment(m.b));
  calls.set(preference, cublaslt::k_min_alignment_b, alignment(m.a));
  calls.set(preference, cublaslt::k_min_alignment_c, alignment(m.out));
  calls.set(preference, cublaslt::k_min_alignment_d, alignment(m.out));
  int found = 0;
  calls.call("MatmulAlgoGetHeuristic", library.MatmulAlgoGetHeuristic, handle, plan.desc, plan.a, plan.b,
             plan.out, plan.out, preference, 1, &plan.choice, &found);
  if (found == 0) calls.fail("MatmulAlgoGetHeuristic", cublaslt::k_not_supported);
  if (preference != nullptr) library.MatmulPreferenceDestroy(preference);
}

cublaslt::Handle handle_for(Calls& calls, const Library& library, int device) {
  cublaslt::Handle& handle = state().handles[device];
  if (handle == nullptr) calls.call("Create", library.Create, &handle);
  return handle;
}

const Plan* plan_for(Calls& calls, const Library& library, const Fp8Matmul& m, int device,
                     cublaslt::Handle handle) {
  auto& plans = state().plans;
  const Key key = key_of(m, device);
  if (const auto known = plans.find(key); known != plans.end()) return &known->second;
  Plan plan;
  describe(calls, library, plan, m);
  choose(calls, library, plan, m, handle);
  if (!calls.error().empty()) {
    destroy(library, plan);
    return nullptr;
  }
  if (plans.size() == k_most_plans) {  // sizes that never come back
    for (const auto& [old_key, old] : plans)
      destroy(library, old);
    plans.clear();
  }
  return &plans.emplace(key, plan).first->second;
}

std::string multiply(const Library& library, const Fp8Matmul& m, uint8_t* workspace, int device,
                     cudaStream_t stream) {
  const float one = 1;
  const float zero = 0;
  Calls calls(library);
  const std::lock_guard lock(state().mutex);
  const cublaslt::Handle handle = handle_for(calls, library, device);
  const Plan* plan = calls.error().empty() ? plan_for(calls, library, m, device, handle) : nullptr;
  if (plan == nullptr) return calls.error();
  set_pointers(calls, *plan, m);
  calls.call("Matmul", library.Matmul, handle, plan->desc, static_cast<const void*>(&one),
             static_cast<const void*>(m.b), plan->a, static_cast<const void*>(m.a), plan->b,
             static_cast<const void*>(&zero), static_cast<const void*>(m.out), plan->out, m.out, plan->out,
             static_cast<const cublaslt::Algorithm*>(&plan->choice.algorithm), static_cast<void*>(workspace),
             static_cast<size_t>(k_cublaslt_workspace), stream);
  return calls.error();
}

std::string cuda_error(cudaError_t error) {
  if (error == cudaSuccess) return {};
  return std::string("CUDA error: ") + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
}

}  // namespace

int64_t fp8_matmul_workspace(int64_t rows, int64_t columns, int64_t inner) {
  return copies_for(rows, columns, inner).end;
}

std::string fp8_matmul(const Fp8Matmul& given, uint8_t* workspace, int device, cudaStream_t stream) {
  const cublaslt::Found& found = cublaslt::find();
  if (found.library == nullptr) return found.error;
  if (given.rows == 0 || given.columns == 0) return {};
  Fp8Matmul m = given;
  const Copies copies = copies_for(m.rows, m.columns, m.inner);
  std::string error = cuda_error(use_copies(m, copies, workspace, stream));
  if (error.empty()) error = multiply(*found.library, m, workspace, device, stream);
  if (!error.empty() || copies.out < 0) return error;
  const int64_t size = bytes_of(m.out_type);
  return cuda_error(cudaMemcpy2DAsync(given.out, static_cast<size_t>(given.columns * size), m.out,
                                      static_cast<size_t>(m.columns * size),
                                      static_cast<size_t>(given.columns * size),
                                      static_cast<size_t>(given.rows), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace dsbuild::ops
