#include "registry/backend_kinds.h"

#include <algorithm>

#include "arch/amd.h"
#include "arch/intel.h"
#include "arch/nvidia.h"

namespace dsbuild {

const std::vector<BackendKindRow>& backend_kinds() {
  static const std::vector<BackendKindRow> rows = {{BackendKind::cuda, "cuda", nvidia, true},
                                                   {BackendKind::cpu, "cpu", nullptr, true},
                                                   {BackendKind::hip, "hip", amd, true},
                                                   {BackendKind::sycl, "sycl", intel, true}};
  return rows;
}

const BackendKindRow& kind_row(BackendKind kind) {
  const auto& rows = backend_kinds();
  return *std::find_if(rows.begin(), rows.end(), [&](const BackendKindRow& row) { return row.kind == kind; });
}

const BackendKindRow* find_backend_kind(const std::string& key) {
  const auto& rows = backend_kinds();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const BackendKindRow& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

std::string refuse_backend(const std::string& word) {
  if (find_backend_kind(word)) return "";
  std::vector<std::string> keys;
  for (const BackendKindRow& row : backend_kinds())
    keys.emplace_back(row.key);
  return "is not a backend" + did_you_mean(word, keys) + "; there are " + join(keys, ", ");
}

const Vendor* vendor_of(BackendKind kind) {
  const BackendKindRow& row = kind_row(kind);
  return row.vendor ? &row.vendor() : nullptr;
}

const Vendor* vendor_of(const OpSpec& spec) {
  return vendor_of(spec.backend);
}

bool is_for_others(const OpSpec& spec, const ArchSet& asked) {
  const Vendor* vendor = vendor_of(spec);
  return vendor && !asked.empty() && targets_of(asked, *vendor).empty();
}

std::string why_for_others(const OpSpec& spec, const ArchSet& asked) {
  std::vector<std::string> reasons;
  for (const auto& [backend, reason] : spec.unsupported)
    if (const Vendor* vendor = vendor_of(backend); vendor && !targets_of(asked, *vendor).empty())
      reasons.push_back("not for " + to_upper(kind_row(backend).key) + ": " + reason);
  if (!reasons.empty()) return join(reasons, "; ");
  return "it is written for " + to_upper(kind_row(spec.backend).key) + " alone, and " + arch_text(asked) +
         (asked.size() > 1 ? " are" : " is") + " of other GPUs";
}

const Toolkit* toolkit_of(const ToolkitSet& toolkits, const OpSpec& spec) {
  const Vendor* vendor = vendor_of(spec);
  return toolkits.of(vendor ? *vendor : nvidia());
}

}  // namespace dsbuild
