// What Python calls: ops/native/evoformer_attn/functions.yaml; the formulas: docs/reference/ops.md.
#include <climits>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "cuda_call.h"
#include "evoformer_attn.h"
#include "tensor_checks.h"

namespace dsbuild::ops {
namespace {

using OptionalTensor = std::optional<TensorArgument>;

constexpr int k_oldest = 7;  // compute capability
constexpr int64_t k_head_dim_step = 8;
constexpr int64_t k_max_rows = INT_MAX - k_tile;  // a tile's last row is an int too

struct Inputs {
  TensorArgument q, k, v;
  OptionalTensor bias1, bias2;
};

Inputs read_inputs(Arguments& arguments) {
  Inputs in{arguments.tensor("q"), arguments.tensor("k"), arguments.tensor("v"), {}, {}};
  in.bias1 = arguments.optional_tensor("bias1");
  in.bias2 = arguments.optional_tensor("bias2");
  return in;
}

void check_common(const TensorArgument& tensor, DLDevice device) {
  check_device_type(tensor, kDLCUDA);
  check_same_device(tensor, device);
  check_contiguous(tensor);
  if (reinterpret_cast<uintptr_t>(elements<void>(tensor)) % 16 == 0) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected an address that is a multiple of 16";
}

// One of the arrays of the common dtype and a shape that follows from q and k.
void check_array(const TensorArgument& tensor, const Inputs& in, const std::vector<int64_t>& shape) {
  check_common(tensor, in.q.view.device());
  check_dtype(tensor, {in.q.view.dtype()});
  check_shape(tensor, shape);
}

void check_floats(const TensorArgument& tensor, const Inputs& in) {
  check_common(tensor, in.q.view.device());
  check_dtype(tensor, {k_float32});
}

int checked_size(const TensorArgument& tensor, int dimension, const char* what) {
  const int64_t size = tensor.view.size(dimension);
  if (size <= k_max_rows) return static_cast<int>(size);
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected at most " << k_max_rows << " " << what << ", got "
                            << size;
}

int checked_head_dim(const TensorArgument& q) {
  const int64_t dim = q.view.size(q.view.ndim() - 1);
  if (dim >= k_head_dim_step && dim <= k_max_head_dim && dim % k_head_dim_step == 0)
    return static_cast<int>(dim);
  TVM_FFI_THROW(ValueError) << q.where
                            << ": expected a head dimension (the last one) that is a multiple of 8 from 8 to "
                            << k_max_head_dim << ", got " << dim;
}

// [*, rows, sequence, heads, head_dim]
EvoformerShape attention_shape(const Inputs& in) {
  for (const TensorArgument* tensor : {&in.q, &in.k}) {
    if (tensor->view.ndim() >= 4) continue;
    TVM_FFI_THROW(ValueError) << tensor->where
                              << ": expected 4 dimensions or more (…, rows, sequence, heads, head_dim), got "
                              << shape_text(tensor->view);
  }
  const int last = in.q.view.ndim() - 1;
  EvoformerShape shape{};
  shape.batch = 1;
  for (int i = 0; i < last - 3; ++i)
    shape.batch *= in.q.view.size(i);
  shape.rows = checked_size(in.q, last - 3, "rows");
  shape.queries = checked_size(in.q, last - 2, "queries");
  shape.heads = checked_size(in.q, last - 1, "heads");
  shape.head_dim = checked_head_dim(in.q);
  shape.keys = checked_size(in.k, in.k.view.ndim() - 3, "keys");
  return shape;
}

// q's shape with its last four dimensions replaced.
std::vector<int64_t> like_q(const Inputs& in, const std::vector<int64_t>& last_four) {
  std::vector<int64_t> shape;
  for (int i = 0; i < in.q.view.ndim() - 4; ++i)
    shape.push_back(in.q.view.size(i));
  shape.insert(shape.end(), last_four.begin(), last_four.end());
  return shape;
}

struct Shapes {
  std::vector<int64_t> queries, keys, lse, bias1, bias2;
};

Shapes shapes_of(const Inputs& in, const EvoformerShape& s) {
  Shapes shapes{like_q(in, {s.rows, s.queries, s.heads, s.head_dim}),
                like_q(in, {s.rows, s.keys, s.heads, s.head_dim}), like_q(in, {s.rows, s.heads, s.queries}),
                like_q(in, {s.rows, 1, 1}), like_q(in, {1, s.heads, s.queries})};
  shapes.bias1.push_back(s.keys);
  shapes.bias2.push_back(s.keys);
  return shapes;
}

void* address(const OptionalTensor& tensor) {
  return tensor ? elements<void>(*tensor) : nullptr;
}

void check_optional(const OptionalTensor& tensor, const Inputs& in, const std::vector<int64_t>& shape) {
  if (tensor) check_array(*tensor, in, shape);
}

EvoformerInputs checked_inputs(const Inputs& in, const EvoformerShape& shape, const Shapes& shapes) {
  check_array(in.q, in, shapes.queries);
  check_array(in.k, in, shapes.keys);
  check_array(in.v, in, shapes.keys);
  check_optional(in.bias1, in, shapes.bias1);
  check_optional(in.bias2, in, shapes.bias2);
  return {shape,
          float_type(in.q),
          elements<void>(in.q),
          elements<void>(in.k),
          elements<void>(in.v),
          address(in.bias1),
          address(in.bias2)};
}

void check_type(const TensorArgument& q) {
  check_device_type(q, kDLCUDA);
  check_dtype(q, {k_float16, k_bfloat16});
}

std::string names_of(const std::vector<const EvoformerFamily*>& families) {
  std::string names;
  for (const EvoformerFamily* family : families)
    names += (names.empty() ? "" : ", ") + std::to_string(family->version);
  return names;
}

// Families that the current device can run, newest first; at least one.
std::vector<const EvoformerFamily*> usable_families(const char* function, int device) {
  const std::string capability = compute_capability(device);
  if (std::stoi(capability) < k_oldest) {
    TVM_FFI_THROW(RuntimeError) << function
                                << ": needs a GPU of compute capability 7.0 or newer; cuda:" << device
                                << " has " << capability;
  }
  std::vector<const EvoformerFamily*> usable;
  for (const EvoformerFamily* family : evoformer_families()) {
    if (evoformer_family_runs(*family)) usable.push_back(family);
  }
  if (usable.empty()) check_cuda(function, cudaErrorNoKernelImageForDevice, device);
  return usable;
}

const EvoformerFamily& chosen_family(const char* function, const std::string& forced, int device) {
  const auto usable = usable_families(function, device);
  if (forced.empty()) return *usable.front();
  for (const EvoformerFamily* family : usable) {
    if (std::to_string(family->version) == forced) return *family;
  }
  TVM_FFI_THROW(ValueError) << function << ": family: this library runs " << names_of(usable)
                            << " on cuda:" << device << ", not " << forced << "; build it with --arch "
                            << forced[0] << "." << forced[1] << "-virtual";
}

void check_family_type(const EvoformerFamily& family, const TensorArgument& q) {
  if (family.bfloat16 || same_dtype(q.view.dtype(), k_float16)) return;
  TVM_FFI_THROW(TypeError)
      << q.where
      << ": bfloat16 needs kernels for compute capability 8.0 or newer, and this library runs those for "
      << family.version / 10 << "." << family.version % 10 << " on " << device_name(q.view.device())
      << "; use float16, or build with --arch 8.0 or newer for such a GPU";
}

std::string read_family(Arguments& arguments) {
  const std::string name = arguments.text_or("family", "");
  check_value(arguments, "family", name.empty() || name == "70" || name == "75" || name == "80",
              "\"\" (the newest that runs), \"70\", \"75\" or \"80\"");
  arguments.end();
  return name;
}

template <class Call>
void run(const char* function, const TensorArgument& q, const std::string& forced, const Call& call,
         cudaError_t (*EvoformerFamily::*launch)(const Call&, cudaStream_t)) {
  const int device = q.view.device().device_id;
  const DeviceScope scope(function, device);
  const EvoformerFamily& family = chosen_family(function, forced, device);
  check_family_type(family, q);
  check_cuda(function, (family.*launch)(call, current_stream(device)), device);
}

tvm::ffi::Any evoformer_attn_forward(Arguments& arguments) {
  const Inputs in = read_inputs(arguments);
  const TensorArgument out = arguments.tensor("out");
  const TensorArgument lse = arguments.tensor("lse");
  const std::string family = read_family(arguments);
  check_type(in.q);
  const EvoformerShape shape = attention_shape(in);
  const Shapes shapes = shapes_of(in, shape);
  const EvoformerInputs inputs = checked_inputs(in, shape, shapes);
  check_array(out, in, shapes.queries);
  check_floats(lse, in);
  check_shape(lse, shapes.lse);
  run("evoformer_attn_forward", in.q, family,
      EvoformerForward{inputs, elements<void>(out), elements<float>(lse)}, &EvoformerFamily::forward);
  return {};
}

void check_scratch(const TensorArgument& scratch, const Inputs& in, const EvoformerShape& shape) {
  check_floats(scratch, in);
  const int64_t needed = evoformer_scratch_elements(shape);
  if (scratch.view.numel() >= needed) return;
  TVM_FFI_THROW(ValueError) << scratch.where << ": expected at least " << needed
                            << " elements (what evoformer_attn_scratch(q, k) gives), got "
                            << scratch.view.numel();
}

struct Gradients {
  TensorArgument q, k, v;
  OptionalTensor bias1, bias2;
};

void check_gradients(const Gradients& gradients, const Inputs& in, const Shapes& shapes) {
  check_array(gradients.q, in, shapes.queries);
  check_array(gradients.k, in, shapes.keys);
  check_array(gradients.v, in, shapes.keys);
  check_optional(gradients.bias1, in, shapes.bias1);
  check_optional(gradients.bias2, in, shapes.bias2);
}

tvm::ffi::Any evoformer_attn_backward(Arguments& arguments) {
  const TensorArgument grad_out = arguments.tensor("grad_out");
  const Inputs in = read_inputs(arguments);
  const TensorArgument out = arguments.tensor("out");
  const TensorArgument lse = arguments.tensor("lse");
  Gradients gradients{
      arguments.tensor("grad_q"), arguments.tensor("grad_k"), arguments.tensor("grad_v"), {}, {}};
  gradients.bias1 = arguments.optional_tensor("grad_bias1");
  gradients.bias2 = arguments.optional_tensor("grad_bias2");
  const TensorArgument scratch = arguments.tensor("scratch");
  const std::string family = read_family(arguments);
  check_type(in.q);
  const EvoformerShape shape = attention_shape(in);
  const Shapes shapes = shapes_of(in, shape);
  const EvoformerInputs inputs = checked_inputs(in, shape, shapes);
  check_array(grad_out, in, shapes.queries);
  check_array(out, in, shapes.queries);
  check_floats(lse, in);
  check_shape(lse, shapes.lse);
  check_gradients(gradients, in, shapes);
  check_scratch(scratch, in, shape);
  const EvoformerBackward call{inputs,
                               elements<void>(grad_out),
                               elements<void>(out),
                               elements<float>(lse),
                               elements<void>(gradients.q),
                               elements<void>(gradients.k),
                               elements<void>(gradients.v),
                               address(gradients.bias1),
                               address(gradients.bias2),
                               elements<float>(scratch)};
  run("evoformer_attn_backward", in.q, family, call, &EvoformerFamily::backward);
  return {};
}

// How many float32 elements the backward pass needs as scratch for such q and k.
tvm::ffi::Any evoformer_attn_scratch(Arguments& arguments) {
  const TensorArgument q = arguments.tensor("q");
  const TensorArgument k = arguments.tensor("k");
  arguments.end();
  return tvm::ffi::Any(evoformer_scratch_elements(attention_shape({q, k, k, {}, {}})));
}

// Which family a call without `family` uses on the tensor's device.
tvm::ffi::Any evoformer_attn_family(Arguments& arguments) {
  const TensorArgument tensor = arguments.tensor("tensor");
  arguments.end();
  check_device_type(tensor, kDLCUDA);
  const int device = tensor.view.device().device_id;
  const DeviceScope scope("evoformer_attn_family", device);
  const EvoformerFamily& family = chosen_family("evoformer_attn_family", "", device);
  return tvm::ffi::Any(tvm::ffi::String(std::to_string(family.version)));
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(evoformer_attn_forward, dsbuild::ops::evoformer_attn_forward)
DSBUILD_EXPORT(evoformer_attn_backward, dsbuild::ops::evoformer_attn_backward)
DSBUILD_EXPORT(evoformer_attn_scratch, dsbuild::ops::evoformer_attn_scratch)
DSBUILD_EXPORT(evoformer_attn_family, dsbuild::ops::evoformer_attn_family)
