#include "toolkit/toolkit_message.h"

#include "arch/nvidia.h"
#include "base/text.h"

namespace dsbuild {
namespace {

bool demands_home(const Settings& settings) {
  return !settings.cuda_home.value.empty();
}

std::string get_command(const std::string& version) {
  return "dsbuild toolkits get " + version + "   (fetches CUDA " + version + " into your cache folder)";
}

Error unmet(MessageCode code, std::string where, std::string what,
            const std::vector<std::string>& fix_lines) {
  return make_error(Exit::unmet, code, std::move(where), std::move(what), join(fix_lines, "\n"));
}

std::vector<std::string> rejected_lines(const Toolkits& toolkits) {
  std::vector<std::string> lines;
  for (const RejectedToolkit& rejected : toolkits.rejected) {
    lines.push_back(rejected.home.string() + " (" + rejected.origin + "): " + rejected.reason);
  }
  return lines;
}

// What is wrong with the folder that --cuda-home names.
std::string demanded_reason(const Toolkits& toolkits) {
  for (const RejectedToolkit& rejected : toolkits.rejected) {
    if (rejected.origin == "--cuda-home") return rejected.reason;
  }
  return "it holds no usable nvcc";
}

std::string versions_line(const ArchSet& needed) {
  const std::string versions = cuda_versions_for(needed);
  if (versions.empty()) return "no CUDA version targets all of it: split the list into two builds";
  const bool one = versions.find(" to ") == std::string::npos && versions.find(" and ") == std::string::npos;
  return versions + (one ? " targets" : " target") + " all of it";
}

std::string compiler_names(const std::vector<HostCompiler>& compilers) {
  std::vector<std::string> names;
  for (const HostCompiler& compiler : compilers) {
    names.push_back(compiler.family + " " + compiler.version.text() + " (" + compiler.path.string() + ")");
  }
  return names.empty() ? "none" : join(names, ", ");
}

}  // namespace

std::string toolkit_name(const Toolkit& toolkit) {
  return toolkit.name() + " (" + toolkit.home.string() + ")";
}

bool ToolkitNeed::goes_with(const Toolkit& toolkit) const {
  return goes_with_cuda(toolkit.version, torch_cuda);
}

Error no_toolkit_error(const Settings& settings, const Toolkits& toolkits, const ToolkitNeed& need) {
  if (demands_home(settings)) {
    return unmet("no_toolkit", settings.cuda_home.origin,
                 settings.cuda_home.value.string() + " is no CUDA toolkit: " + demanded_reason(toolkits),
                 {"name the folder that holds bin/nvcc, or leave " + settings.cuda_home.origin +
                  " out: dsbuild then looks for one"});
  }
  std::vector<std::string> fix = rejected_lines(toolkits);
  for (const std::string& version : fetchable_versions(need.archs, need.torch_cuda))
    fix.push_back(get_command(version));
  fix.emplace_back("or pass --cuda-home DIR with the folder that holds bin/nvcc");
  return unmet("no_toolkit", "CUDA toolkit", "no CUDA toolkit was found on this machine", fix);
}

Error lacks_archs_error(const Settings& settings, const Toolkits& toolkits,
                        const std::vector<const Toolkit*>& demanded, const ToolkitNeed& need, bool can_drop) {
  const ArchSet& needed = need.archs;
  std::vector<std::string> fix;
  for (const Toolkit* toolkit : demanded) {
    fix.push_back(toolkit_name(*toolkit) + " lacks " + arch_text(difference(needed, toolkit->targets)));
  }
  fix.push_back(versions_line(needed));
  if (!need.torch_cuda.empty()) {
    fix.push_back("torch is of CUDA " + need.torch_cuda.short_text() + ", which takes a toolkit of CUDA " +
                  matching_cuda_text(need.torch_cuda));
  }
  for (const Toolkit& other : toolkits.found) {
    if (demands_home(settings) && need.goes_with(other) && difference(needed, other.targets).empty()) {
      fix.push_back("--cuda-home " + other.home.string() + "   (" + other.name() + ", installed here)");
    }
  }
  for (const std::string& version : fetchable_versions(needed, need.torch_cuda))
    fix.push_back(get_command(version));
  if (can_drop) fix.emplace_back("--drop-unsupported-archs   (builds without what the toolkit lacks)");
  const std::string subject = demands_home(settings)
                                  ? "the toolkit of " + settings.cuda_home.origin + " cannot target "
                                  : "no installed CUDA toolkit can target ";
  return unmet("toolkit_lacks_archs", settings.arch.origin, subject + "all of " + arch_text(needed), fix);
}

Error no_host_compiler_error(const Toolkit& toolkit, const std::vector<HostCompiler>& compilers) {
  std::vector<std::string> fix;
  if (toolkit.bounds.gcc_max > 0) {
    const std::string package = "g++-" + std::to_string(toolkit.bounds.gcc_max);
    fix.push_back("apt-get install " + package + "   (or your system's package of it)");
  } else {
    fix.emplace_back("apt-get install g++   (or your system's package of it)");
  }
  fix.emplace_back("or set CUDAHOSTCXX to a C++ compiler that it accepts");
  return unmet("no_host_compiler", toolkit.home.string(),
               toolkit.name() + " takes " + toolkit.bounds.text() +
                   " as its host compiler; this machine has: " + compiler_names(compilers),
               fix);
}

}  // namespace dsbuild
