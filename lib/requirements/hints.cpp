#include "requirements/hints.h"

#include <array>

#include "requirements/probe.h"

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

}  // namespace

std::string package_tool(const System& system) {
  for (const PackageTool& tool : k_tools) {
    if (find_program(system, tool.program)) return tool.key;
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
  return plain != requirement.hint.end() ? plain->second : advice_for(requirement);
}

}  // namespace dsbuild
