#include "requirements/hints.h"

#include <array>

namespace dsbuild {
namespace {

struct PackageTool {
  const char* key;      // in `hint:`
  const char* program;  // on PATH
  const char* command;  // ahead of the package names
};

constexpr std::array<PackageTool, 5> k_tools{{
    {"apt", "apt-get", "apt-get install "},
    {"dnf", "dnf", "dnf install "},
    {"pacman", "pacman", "pacman -S "},
    {"zypper", "zypper", "zypper install "},
    {"apk", "apk", "apk add "},
}};

std::string general_advice(const Requirement& requirement) {
  const std::string subject = join(requirement.subjects, " or ");
  switch (requirement.kind) {
    case RequirementKind::cuda:
      return "install a CUDA toolkit " + requirement.range.text + ", or name one with --cuda-home";
    case RequirementKind::header:
      return "install the package that holds " + subject + ", or add its folder to CFLAGS (-I...)";
    case RequirementKind::library:
      return "install the development package of lib" + subject + ", or add its folder to LDFLAGS (-L...)";
    case RequirementKind::command:
      return "install " + subject + " and put it on PATH";
    case RequirementKind::cpu_feature:
      return "build on a machine whose CPU has " + subject;
    case RequirementKind::module:
      return "install the module " + subject + " for the Python in use, or name another with --python";
    case RequirementKind::tvm_ffi:
      return "install Python's apache-tvm-ffi " + requirement.range.text +
             " with pip, or set TVM_FFI_HOME to a folder that holds include/tvm and lib/libtvm_ffi.so";
    case RequirementKind::cutlass:
      return "pip install nvidia-cutlass, or set CUTLASS_PATH to a checkout of CUTLASS " +
             requirement.range.text;
    case RequirementKind::source:
      return "build from sources in which that is mended (--source), or leave the op out";
    case RequirementKind::torch:
      return "install torch " + requirement.range.text +
             " for the Python in use, or name another with --python";
  }
  return {};
}

}  // namespace

std::string package_tool(const System& system) {
  for (const PackageTool& tool : k_tools) {
    if (find_program(system.files, tool.program, variable(system.environment, "PATH"))) return tool.key;
  }
  return {};
}

std::string fix_for(const Requirement& requirement, const std::string& tool) {
  for (const PackageTool& known : k_tools) {
    if (tool != known.key) continue;
    const auto packages = requirement.hint.find(tool);
    if (packages != requirement.hint.end()) return known.command + packages->second;
  }
  const auto plain = requirement.hint.find("");
  return plain != requirement.hint.end() ? plain->second : general_advice(requirement);
}

}  // namespace dsbuild
