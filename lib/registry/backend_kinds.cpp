#include "registry/backend_kinds.h"

#include <algorithm>

#include "arch/nvidia.h"

namespace dsbuild {

const std::vector<BackendKindRow>& backend_kinds() {
  static const std::vector<BackendKindRow> rows = {{BackendKind::cuda, "cuda", nvidia, true},
                                                   {BackendKind::cpu, "cpu", nullptr, true},
                                                   {BackendKind::hip, "hip", nullptr, false}};
  return rows;
}

const BackendKindRow& kind_row(BackendKind kind) {
  const auto& rows = backend_kinds();
  return *std::find_if(rows.begin(), rows.end(), [&](const BackendKindRow& row) { return row.kind == kind; });
}

const Vendor* vendor_of(const OpSpec& spec) {
  const BackendKindRow& row = kind_row(spec.backend);
  return row.vendor ? &row.vendor() : nullptr;
}

const Toolkit* toolkit_of(const ToolkitSet& toolkits, const OpSpec& spec) {
  const Vendor* vendor = vendor_of(spec);
  return toolkits.of(vendor ? *vendor : nvidia());
}

}  // namespace dsbuild
