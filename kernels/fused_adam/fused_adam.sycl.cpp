// Adam over many tensors at once, in SYCL. A host compiler that is not SYCL's sees kernels by their types'
// names, so these are not in an unnamed namespace.
#include "adam_formula.h"
#include "fused_adam_sycl.h"
#include "sycl_launch.h"
#include "tensor_table.h"

namespace dsbuild::ops {

// With the coefficients no more than the arguments that a kernel has on Intel's GPUs.
constexpr size_t k_max_argument_bytes = 2048;
constexpr int k_max_adam_tensors = 44;
using AdamTable = TensorTable<AdamArrays, k_max_adam_tensors>;

template <class Param, class Grad>
class AdamStep {
 public:
  AdamStep(const AdamTable& table, const AdamCoefficients& coefficients) : table_(table), c_(coefficients) {}

  void operator()(sycl::nd_item<1> item) const {
    const Part part = part_of_block(table_, static_cast<uint32_t>(item.get_group(0)));
    const AdamArrays& arrays = table_.tensors[part.tensor];
    auto* param = static_cast<Param*>(arrays.param) + part.begin;
    const auto* grad = static_cast<const Grad*>(arrays.grad) + part.begin;
    float* exp_avg = arrays.exp_avg + part.begin;
    float* exp_avg_sq = arrays.exp_avg_sq + part.begin;
    const AdamFormula<SyclFloat> formula(c_);
    for (auto i = static_cast<int64_t>(item.get_local_id(0)); i < part.count; i += k_threads) {
      float moments[] = {exp_avg[i], exp_avg_sq[i]};
      param[i] = from_float<Param>(formula.step(to_float(param[i]), to_float(grad[i]), moments));
      exp_avg[i] = moments[0];
      exp_avg_sq[i] = moments[1];
    }
  }

 private:
  AdamTable table_;
  AdamCoefficients c_;
};

namespace {

AdamCoefficients known_coefficients(AdamOptions options, sycl::queue& queue) {
  options.lr = known(options.lr, queue);
  options.step = known(options.step, queue);
  return coefficients(options);
}

template <class Param, class Grad>
void launch(const std::vector<AdamArrays>& tensors, const AdamCoefficients& c, sycl::queue& queue) {
  static_assert(sizeof(AdamStep<Param, Grad>) <= k_max_argument_bytes);
  for_each_table<k_max_adam_tensors>(tensors, [&](const AdamTable& table, uint32_t blocks) {
    const sycl::range<1> items(static_cast<size_t>(blocks) * k_threads);
    queue.parallel_for(sycl::nd_range<1>(items, sycl::range<1>(k_threads)), AdamStep<Param, Grad>(table, c));
    return 0;
  });
}

}  // namespace

void launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                       const AdamOptions& options, const SyclPlace& place) {
  if (!blocks_fit(tensors)) throw std::runtime_error("a tensor is too large for one launch");
  on_queue(place, [&](sycl::queue& queue) {
    const AdamCoefficients c = known_coefficients(options, queue);
    run_typed(param, grad, [&](auto param_type, auto grad_type) {
      launch<decltype(param_type), decltype(grad_type)>(tensors, c, queue);
    });
  });
}

}  // namespace dsbuild::ops
