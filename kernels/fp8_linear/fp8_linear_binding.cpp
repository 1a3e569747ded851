// What Python calls: ops/native/fp8_linear/functions.yaml; the formulas: docs/reference/ops.md.
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cublaslt.h"
#include "cuda_call.h"
#include "fp8_arguments.h"
#include "fp8_linear.h"
#include "matmul.h"

namespace dsbuild::ops {
namespace {

// On a GPU, the first one's, without gaps.
void check_on_gpu(std::initializer_list<const TensorArgument*> tensors) {
  const DLDevice device = (*tensors.begin())->view.device();
  for (const TensorArgument* tensor : tensors) {
    if (tensor == nullptr) continue;
    check_device_type(*tensor, kDLCUDA);
    check_same_device(*tensor, device);
    check_contiguous(*tensor);
  }
}

const TensorArgument* address(const std::optional<TensorArgument>& tensor) {
  return tensor ? &*tensor : nullptr;
}

void check_floats(const TensorArgument& tensor, int64_t count) {
  check_dtype(tensor, {k_float32});
  if (tensor.view.numel() == count) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected " << count
                            << (count == 1 ? " element" : " elements") << ", got " << tensor.view.numel();
}

void check_dimensions(const TensorArgument& tensor, int32_t dimensions) {
  if (tensor.view.ndim() == dimensions) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected " << dimensions << " dimensions, got "
                            << tensor.view.ndim();
}

void check_begins_at(const TensorArgument& tensor, uintptr_t bytes) {
  if (reinterpret_cast<uintptr_t>(elements<void>(tensor)) % bytes == 0) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected to begin at a multiple of " << bytes << " bytes";
}

struct Launching {
  explicit Launching(const Arguments& arguments, const TensorArgument& tensor)
      : function(arguments.function()), device(tensor.view.device().device_id), scope(function, device) {}
  cudaStream_t stream() const { return current_stream(device); }
  void check(cudaError_t error) const { check_cuda(function, error, device); }

  const char* function;
  int device;
  DeviceScope scope;
};

// ---- quantisation

// Where the amax of delayed scaling is gathered.
struct Gathering {
  TensorArgument history;
  int64_t slot;
};

enum class Scaling { given, delayed, current };

struct QuantizeArguments {
  TensorArgument input, scale;
  std::optional<Gathering> gathering;     // of delayed scaling
  std::optional<TensorArgument> scratch;  // of current scaling
  TensorArgument codes;
  std::optional<TensorArgument> transposed;
  Fp8Format format;
};

Gathering read_gathering(Arguments& arguments) {
  TensorArgument history = arguments.tensor("history");
  const int64_t slot = arguments.integer("slot");
  check_value(arguments, "slot", slot >= 0, "0 or more");
  return {std::move(history), slot};
}

QuantizeArguments read_quantize(Arguments& arguments, Scaling scaling, bool transposes) {
  TensorArgument input = arguments.tensor("input");
  TensorArgument scale = arguments.tensor("scale");
  std::optional<Gathering> gathering;
  if (scaling == Scaling::delayed) gathering = read_gathering(arguments);
  std::optional<TensorArgument> scratch;
  if (scaling == Scaling::current) scratch = arguments.tensor("scratch");
  TensorArgument codes = arguments.tensor("codes");
  std::optional<TensorArgument> transposed;
  if (transposes) transposed = arguments.tensor("codes_t");
  const Fp8Format format = read_fp8_format(arguments, "format");
  arguments.end();
  return {std::move(input),
          std::move(scale),
          std::move(gathering),
          std::move(scratch),
          std::move(codes),
          std::move(transposed),
          format};
}

float* checked_amax(const Arguments& arguments, const Gathering& gathering) {
  check_dtype(gathering.history, {k_float32});
  const int64_t count = gathering.history.view.numel();
  if (gathering.slot >= count) {
    TVM_FFI_THROW(ValueError) << arguments.where("slot") << ": expected one of the " << count
                              << " elements of history, got " << gathering.slot;
  }
  return elements<float>(gathering.history) + gathering.slot;
}

Fp8Codes checked_codes(const Arguments& arguments, const QuantizeArguments& q) {
  check_on_gpu({&q.input, &q.scale, q.gathering ? &q.gathering->history : nullptr, address(q.scratch),
                &q.codes, address(q.transposed)});
  check_floats(q.scale, 1);
  check_dtype(q.codes, {k_uint8});
  check_same_shape(q.codes, q.input);
  Fp8Codes codes{elements<float>(q.scale), nullptr, nullptr, elements<uint8_t>(q.codes), nullptr};
  if (q.scratch) {
    check_floats(*q.scratch, k_fp8_maxima);
    codes.maxima = elements<float>(*q.scratch);
  }
  if (q.gathering) codes.amax = checked_amax(arguments, *q.gathering);
  if (q.transposed) {
    check_dimensions(q.input, 2);
    check_dtype(*q.transposed, {k_uint8});
    check_shape(*q.transposed, {q.input.view.size(1), q.input.view.size(0)});
    codes.transposed = elements<uint8_t>(*q.transposed);
  }
  return codes;
}

Fp8Values flat(const TensorArgument& tensor) {
  return {elements<void>(tensor), float_type(tensor), 1, tensor.view.numel()};
}

Fp8Values matrix(const TensorArgument& tensor) {
  return {elements<void>(tensor), float_type(tensor), tensor.view.size(0), tensor.view.size(1)};
}

template <Scaling scaling, bool transposes>
tvm::ffi::Any quantize(Arguments& arguments) {
  const QuantizeArguments q = read_quantize(arguments, scaling, transposes);
  const Fp8Codes codes = checked_codes(arguments, q);
  const Fp8Values values = transposes ? matrix(q.input) : flat(q.input);
  const Launching launching(arguments, q.input);
  launching.check(launch_fp8_quantize(values, codes, q.format, launching.stream()));
  return {};
}

Fp8History checked_history(const Arguments& arguments, const TensorArgument& history,
                           const TensorArgument& scales, const std::vector<int64_t>& largest,
                           int64_t margin) {
  check_on_gpu({&history, &scales});
  check_dtype(history, {k_float32});
  check_dtype(scales, {k_float32});
  check_dimensions(history, 2);
  const int64_t length = history.view.size(0);
  const int64_t quantizers = history.view.size(1);
  if (length < 1 || length > k_longest_history || quantizers < 1 || quantizers > k_most_quantizers) {
    TVM_FFI_THROW(ValueError) << history.where << ": expected 1 to " << k_longest_history << " rows of 1 to "
                              << k_most_quantizers << " amax values, got " << shape_text(history.view);
  }
  check_shape(scales, {quantizers});
  Fp8History h{elements<float>(history),
               elements<float>(scales),
               static_cast<int>(length),
               static_cast<int>(quantizers),
               {},
               std::ldexp(1.0f, static_cast<int>(margin))};
  if (static_cast<int64_t>(largest.size()) != quantizers) {
    TVM_FFI_THROW(ValueError) << arguments.where("largest") << ": expected " << quantizers
                              << " numbers like scales, got " << largest.size();
  }
  for (size_t i = 0; i < largest.size(); ++i)
    h.largest[i] = static_cast<float>(largest[i]);
  return h;
}

tvm::ffi::Any fp8_scale_update(Arguments& arguments) {
  const TensorArgument history = arguments.tensor("history");
  const TensorArgument scales = arguments.tensor("scales");
  const std::vector<int64_t> largest = arguments.integers("largest");
  const int64_t margin = arguments.integer_or("margin", 0);
  arguments.end();
  for (const int64_t value : largest)
    check_value(arguments, "largest", value > 0, "numbers above 0");
  check_value(arguments, "margin", margin >= -64 && margin <= 64, "an integer between -64 and 64");
  const Fp8History checked = checked_history(arguments, history, scales, largest, margin);
  const Launching launching(arguments, history);
  launching.check(launch_fp8_scale_update(checked, launching.stream()));
  return {};
}

tvm::ffi::Any fp8_transpose(Arguments& arguments) {
  const TensorArgument codes = arguments.tensor("codes");
  const TensorArgument transposed = arguments.tensor("codes_t");
  arguments.end();
  check_on_gpu({&codes, &transposed});
  check_dtype(codes, {k_uint8});
  check_dtype(transposed, {k_uint8});
  check_dimensions(codes, 2);
  const int64_t rows = codes.view.size(0);
  const int64_t columns = codes.view.size(1);
  check_shape(transposed, {columns, rows});
  const Launching launching(arguments, codes);
  launching.check(launch_fp8_transpose(elements<uint8_t>(codes), elements<uint8_t>(transposed), rows, columns,
                                       launching.stream()));
  return {};
}

// ---- the product

// Shapes of a and b; what every function of the product asks of them.
void check_factors(const TensorArgument& a, const TensorArgument& b) {
  check_dimensions(a, 2);
  check_dimensions(b, 2);
  if (a.view.size(1) < 1) TVM_FFI_THROW(ValueError) << a.where << ": expected 1 column or more, got none";
  if (b.view.size(1) == a.view.size(1)) return;
  TVM_FFI_THROW(ValueError) << b.where << ": expected " << a.view.size(1) << " columns like a, got "
                            << b.view.size(1);
}

int64_t workspace_for(const TensorArgument& a, const TensorArgument& b) {
  return fp8_matmul_workspace(a.view.size(0), b.view.size(0), a.view.size(1));
}

// cuBLASLt adds a bias of out's dtype, to float32 one of bfloat16.
FloatType checked_bias(const TensorArgument& bias, const TensorArgument& out, int64_t columns) {
  const FloatType type = float_type(out);
  check_dtype(bias, {type == FloatType::float16 ? k_float16 : k_bfloat16});
  check_shape(bias, {columns});
  return type == FloatType::float16 ? FloatType::float16 : FloatType::bfloat16;
}

struct MatmulArguments {
  TensorArgument a, b, a_scale, b_scale;
  std::optional<TensorArgument> bias;
  TensorArgument out, workspace;
  Fp8Format a_format, b_format;
  bool split_accumulator;
};

MatmulArguments read_matmul(Arguments& arguments) {
  TensorArgument a = arguments.tensor("a");
  TensorArgument b = arguments.tensor("b");
  TensorArgument a_scale = arguments.tensor("a_scale");
  TensorArgument b_scale = arguments.tensor("b_scale");
  std::optional<TensorArgument> bias = arguments.optional_tensor("bias");
  TensorArgument out = arguments.tensor("out");
  TensorArgument workspace = arguments.tensor("workspace");
  const Fp8Format a_format = read_fp8_format_or(arguments, "a_format", "e4m3");
  const Fp8Format b_format = read_fp8_format_or(arguments, "b_format", "e4m3");
  const bool split = arguments.flag_or("use_split_accumulator", false);
  arguments.end();
  return {std::move(a),   std::move(b),         std::move(a_scale), std::move(b_scale), std::move(bias),
          std::move(out), std::move(workspace), a_format,           b_format,           split};
}

Fp8Matmul checked_matmul(const Arguments& arguments, const MatmulArguments& m) {
  check_on_gpu({&m.a, &m.b, &m.a_scale, &m.b_scale, address(m.bias), &m.out, &m.workspace});
  check_dtype(m.a, {k_uint8});
  check_dtype(m.b, {k_uint8});
  check_factors(m.a, m.b);
  check_floats(m.a_scale, 1);
  check_floats(m.b_scale, 1);
  const int64_t rows = m.a.view.size(0);
  const int64_t columns = m.b.view.size(0);
  const FloatType out_type = float_type(m.out);
  check_shape(m.out, {rows, columns});
  const FloatType bias_type = m.bias ? checked_bias(*m.bias, m.out, columns) : out_type;
  check_value(arguments, "b_format", m.a_format == Fp8Format::e4m3 || m.b_format == Fp8Format::e4m3,
              "\"e4m3\" where a_format is \"e5m2\": no GPU multiplies e5m2 by e5m2");
  check_dtype(m.workspace, {k_uint8});
  const int64_t needed = workspace_for(m.a, m.b);
  if (m.workspace.view.numel() < needed) {
    TVM_FFI_THROW(ValueError) << m.workspace.where << ": expected at least " << needed << " bytes, got "
                              << m.workspace.view.numel();
  }
  for (const TensorArgument* tensor : {&m.a, &m.b, &m.a_scale, &m.b_scale, address(m.bias), &m.out})
    if (tensor != nullptr) check_begins_at(*tensor, 16);
  check_begins_at(m.workspace, 256);
  return {rows,
          columns,
          m.a.view.size(1),
          elements<uint8_t>(m.a),
          elements<uint8_t>(m.b),
          m.a_format,
          m.b_format,
          elements<float>(m.a_scale),
          elements<float>(m.b_scale),
          m.bias ? elements<void>(*m.bias) : nullptr,
          bias_type,
          elements<void>(m.out),
          out_type,
          m.split_accumulator};
}

tvm::ffi::Any fp8_linear_matmul(Arguments& arguments) {
  const MatmulArguments m = read_matmul(arguments);
  const Fp8Matmul product = checked_matmul(arguments, m);
  const Launching launching(arguments, m.a);
  const std::string error =
      fp8_matmul(product, elements<uint8_t>(m.workspace), launching.device, launching.stream());
  if (!error.empty()) TVM_FFI_THROW(RuntimeError) << arguments.function() << ": " << error;
  return {};
}

tvm::ffi::Any fp8_linear_workspace(Arguments& arguments) {
  const TensorArgument a = arguments.tensor("a");
  const TensorArgument b = arguments.tensor("b");
  arguments.end();
  check_factors(a, b);
  return workspace_for(a, b);
}

tvm::ffi::Any fp8_linear_cublaslt(Arguments& arguments) {
  arguments.end();
  const cublaslt::Found& found = cublaslt::find();
  if (found.library == nullptr) TVM_FFI_THROW(RuntimeError) << arguments.function() << ": " << found.error;
  return tvm::ffi::String(std::to_string(found.library->GetVersion()) + " " + found.library->path);
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fp8_quantize, (dsbuild::ops::quantize<dsbuild::ops::Scaling::given, false>))
DSBUILD_EXPORT(fp8_quantize_both, (dsbuild::ops::quantize<dsbuild::ops::Scaling::given, true>))
DSBUILD_EXPORT(fp8_quantize_delayed, (dsbuild::ops::quantize<dsbuild::ops::Scaling::delayed, false>))
DSBUILD_EXPORT(fp8_quantize_both_delayed, (dsbuild::ops::quantize<dsbuild::ops::Scaling::delayed, true>))
DSBUILD_EXPORT(fp8_quantize_current, (dsbuild::ops::quantize<dsbuild::ops::Scaling::current, false>))
DSBUILD_EXPORT(fp8_quantize_both_current, (dsbuild::ops::quantize<dsbuild::ops::Scaling::current, true>))
DSBUILD_EXPORT(fp8_scale_update, dsbuild::ops::fp8_scale_update)
DSBUILD_EXPORT(fp8_transpose, dsbuild::ops::fp8_transpose)
DSBUILD_EXPORT(fp8_linear_matmul, dsbuild::ops::fp8_linear_matmul)
DSBUILD_EXPORT(fp8_linear_workspace, dsbuild::ops::fp8_linear_workspace)
DSBUILD_EXPORT(fp8_linear_cublaslt, dsbuild::ops::fp8_linear_cublaslt)
