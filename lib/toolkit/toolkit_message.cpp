#include "toolkit/toolkit_message.h"

#include "base/text.h"
#include "toolkit/family.h"
#include "toolkit/fetchable.h"

namespace dsbuild {
namespace {

std::vector<std::string> get_commands(const ToolkitNeed& need) {
  std::vector<std::string> commands;
  for (const FetchableToolkit* row : fetchable_for(*need.family, need.archs, need.torch_cuda))
    commands.push_back(std::string("dsbuild toolkits get ") + row->word + "   (fetches " + row->name +
                       " into your cache folder)");
  return commands;
}

const Setting<Path>& home_of(const ToolkitNeed& need, const Settings& settings) {
  return settings.*need.family->home;
}

Error unmet(MessageCode code, std::string where, std::string what,
            const std::vector<std::string>& fix_lines) {
  return make_error(Exit::unmet, code, std::move(where), std::move(what), join(fix_lines, "\n"));
}

std::vector<std::string> rejected_lines(const CompilerFamily& family, const Toolkits& toolkits) {
  std::vector<std::string> lines;
  for (const RejectedToolkit& rejected : toolkits.rejected) {
    if (rejected.family != &family) continue;
    lines.push_back(rejected.home.string() + " (" + rejected.origin + "): " + rejected.reason);
  }
  return lines;
}

// What is wrong with the folder that --cuda-home names.
std::string demanded_reason(const CompilerFamily& family, const Toolkits& toolkits) {
  for (const RejectedToolkit& rejected : toolkits.rejected) {
    if (rejected.origin == family.home_option) return rejected.reason;
  }
  return "it holds no usable " + Path(family.compiler).filename().string();
}

std::string versions_line(const CompilerFamily& family, const ArchSet& needed) {
  const std::string versions = family.vendor().toolkits_for(needed);
  if (versions.empty())
    return std::string("no ") + family.brand + " version targets all of it: split the list into two builds";
  const bool one = versions.find(" to ") == std::string::npos && versions.find(" and ") == std::string::npos;
  return versions + (one ? " targets" : " target") + " all of it";
}

// "10.1 is called 11.0 by newer toolkits, CUDA 13.0 among them: ask for 11.0"
std::string renamed_line(const ArchSet& needed, const std::vector<const Toolkit*>& demanded) {
  for (const Target& target : needed) {
    const auto renamed = target.vendor->renamed(target.code);
    const auto knows = [&](const Toolkit* toolkit) { return toolkit->targets.contains(*renamed); };
    const auto newer = renamed ? std::ranges::find_if(demanded, knows) : demanded.end();
    if (newer != demanded.end())
      return target.text() + " is called " + renamed->text() + " by " + (*newer)->name() +
             ": ask for that, it is the same GPU";
  }
  return "";
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
  const CompilerFamily& family = *need.family;
  const std::string kind = std::string(family.brand) + " toolkit";
  const std::string folder = std::string("the folder that holds ") + family.compiler;
  if (demands_home(family, settings)) {
    const Setting<Path>& home = home_of(need, settings);
    return unmet("no_toolkit", home.origin,
                 home.value.string() + " is not a " + kind + ": " + demanded_reason(family, toolkits),
                 {"name " + folder + ", or leave " + home.origin + " out, and dsbuild looks for one"});
  }
  std::vector<std::string> fix = rejected_lines(family, toolkits);
  for (const std::string& command : get_commands(need))
    fix.push_back(command);
  if (family.install) fix.emplace_back(family.install);
  fix.push_back(std::string("or pass ") + family.home_option + " DIR with " + folder);
  return unmet("no_toolkit", kind, "no " + kind + " was found on this machine", fix);
}

Error lacks_archs_error(const Settings& settings, const Toolkits& toolkits,
                        const std::vector<const Toolkit*>& demanded, const ToolkitNeed& need, bool can_drop) {
  const CompilerFamily& family = *need.family;
  const ArchSet& needed = need.archs;
  std::vector<std::string> fix;
  for (const Toolkit* toolkit : demanded) {
    fix.push_back(toolkit_name(*toolkit) + " lacks " + arch_text(difference(needed, toolkit->targets)));
  }
  if (const std::string line = renamed_line(needed, demanded); !line.empty()) fix.push_back(line);
  fix.push_back(versions_line(family, needed));
  if (!need.torch_cuda.empty()) {
    fix.push_back("torch is of CUDA " + need.torch_cuda.short_text() + ", which takes a toolkit of CUDA " +
                  matching_cuda_text(need.torch_cuda));
  }
  for (const Toolkit& other : toolkits.found) {
    if (demands_home(family, settings) && other.family == &family && need.goes_with(other) &&
        difference(needed, other.targets).empty()) {
      fix.push_back(std::string(family.home_option) + " " + other.home.string() + "   (" + other.name() +
                    ", installed here)");
    }
  }
  for (const std::string& command : get_commands(need))
    fix.push_back(command);
  if (can_drop) fix.emplace_back("--drop-unsupported-archs   (builds without what the toolkit lacks)");
  const std::string subject = demands_home(family, settings)
                                  ? "the toolkit of " + home_of(need, settings).origin + " cannot target "
                                  : std::string("no installed ") + family.brand + " toolkit can target ";
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
