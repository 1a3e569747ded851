// What kernels take of a GPU, as `cuobjdump --dump-resource-usage` says it.
#include <algorithm>

#include "base/demangle.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

struct KernelOfArch {
  const OpKernels* op;
  const ImageKernels* image;
  const Kernel* kernel;
};

// By op, kernel and arch.
std::vector<KernelOfArch> sorted_kernels(const std::vector<OpKernels>& ops) {
  std::vector<KernelOfArch> all;
  for (const OpKernels& op : ops)
    for (const ImageKernels& image : op.images)
      for (const Kernel& kernel : image.kernels)
        all.push_back({&op, &image, &kernel});
  std::stable_sort(all.begin(), all.end(), [](const KernelOfArch& a, const KernelOfArch& b) {
    const auto key = [](const KernelOfArch& one) {
      return std::tie(one.op->op, one.kernel->name, one.image->image.target);
    };
    return key(a) < key(b);
  });
  return all;
}

std::string spills_text(const KernelResources& resources) {
  if (!resources.spill_stores || !resources.spill_loads) return "?";
  return std::to_string(*resources.spill_stores) + "/" + std::to_string(*resources.spill_loads);
}

Json number_or_null(const std::optional<uint64_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace

std::string render_kernels(const std::vector<OpKernels>& kernels, const Style& style) {
  Table table{{"op", "arch", "registers", "stack", "shared", "spills", "kernel"}, {}};
  for (const auto& [op, image, kernel] : sorted_kernels(kernels)) {
    const KernelResources& takes = kernel->resources;
    table.rows.push_back({op->op, image->image.target.name(), std::to_string(takes.registers),
                          std::to_string(takes.stack), std::to_string(takes.shared), spills_text(takes),
                          demangled(kernel->name) + (kernel->is_entry ? "" : " (__device__)")});
  }
  return render_table(table, style);
}

Json kernels_json(const std::vector<OpKernels>& kernels) {
  Json list = Json::array();
  for (const auto& [op, image, kernel] : sorted_kernels(kernels)) {
    const KernelResources& takes = kernel->resources;
    list.push_back({{"op", op->op},
                    {"arch", image->image.target.name()},
                    {"name", kernel->name},
                    {"text", demangled(kernel->name)},
                    {"entry", kernel->is_entry},
                    {"bytes", kernel->bytes},
                    {"registers", takes.registers},
                    {"stack", takes.stack},
                    {"shared", takes.shared},
                    {"constant", takes.constant},
                    {"spill_stores", number_or_null(takes.spill_stores)},
                    {"spill_loads", number_or_null(takes.spill_loads)}});
  }
  return list;
}

}  // namespace dsbuild
