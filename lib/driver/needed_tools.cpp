#include "driver/needed_tools.h"

#include "arch/nvidia.h"
#include "base/build_layout.h"
#include "toolkit/family.h"

namespace dsbuild {
namespace {

// Those that may name files: what an op.yaml holds names none (registry/flag_rules.cpp).
std::vector<std::string> flags_of_user(const Settings& settings) {
  std::vector<std::string> all;
  for (const auto& flags :
       {settings.nvcc_prepend_flags, settings.nvcc_append_flags, settings.cflags, settings.ldflags})
    all.insert(all.end(), flags.value.begin(), flags.value.end());
  return all;
}

void name_by_roots(ToolParts& parts, const Roots& roots) {
  for (auto& [name, tool] : parts.by_name) {
    tool.text = roots.named_lines(tool.text);
    tool.device_text = roots.named_lines(tool.device_text);
    tool.folders = roots.named(std::move(tool.folders));
  }
}

}  // namespace

ToolkitSet NeededTools::set() const {
  ToolkitSet all;
  for (const Toolkit& toolkit : toolkits)
    all.add(toolkit);
  return all;
}

const Toolkit* NeededTools::cuda() const {
  return set().of(nvidia());
}

Result<NeededTools> find_needed_tools(const Survey& survey) {
  NeededTools needed;
  needed.requested = survey.requested;
  for (const ToolkitDemand& demand : survey.selected.demands) {
    const DeviceTools* tools = survey.tools_of(*demand.vendor);
    if (!demand.is_needed)
      needed.requested = difference(needed.requested, targets_of(needed.requested, *demand.vendor));
    else if (tools && !tools->chosen)
      return tl::unexpected<Error>(tools->chosen.error());
    else if (tools)
      needed.toolkits.push_back(tools->chosen->toolkit);
  }
  if (!survey.cxx) return tl::unexpected<Error>(survey.cxx.error());
  needed.cxx = *survey.cxx;
  return needed;
}

Result<ToolParts> identify_tools(const Survey& survey, const NeededTools& needed, const Roots& roots,
                                 Session& session) {
  HostCompilerParts hosts = survey.host_parts;
  const std::string in_flags = text_of_files_in_flags(
      flags_of_user(survey.settings()), session.system.tools.folder, session.system.files, session.digests);
  ToolParts found;
  DSBUILD_TRY(cxx, hosts.of(needed.cxx.path, session.system, session.facts, session.digests));
  cxx.text += in_flags;
  found.by_name[k_cxx_tool] = std::move(cxx);
  for (const Toolkit& toolkit : needed.toolkits) {
    DSBUILD_TRY(parts, parts_of_toolkit(toolkit, hosts, session.system, session.facts, session.digests));
    parts.text += in_flags;
    if (!parts.device_text.empty()) parts.device_text += in_flags;
    found.by_name[toolkit.family->tool] = std::move(parts);
  }
  name_by_roots(found, roots);
  return found;
}

}  // namespace dsbuild
