#include "base/text.h"
#include "toolkit/host_compiler.h"

namespace dsbuild {
namespace {

// The number after `phrase`; 0 when the phrase is not there.
int number_after(std::string_view text, std::string_view phrase) {
  const size_t at = text.find(phrase);
  if (at == std::string_view::npos) return 0;
  const auto version = parse_version(text.substr(at + phrase.size()));
  return version ? version->major() : 0;
}

}  // namespace

HostCompilerBounds parse_host_config(std::string_view host_config_h) {
  HostCompilerBounds bounds;
  bounds.gcc_max = number_after(host_config_h, "gcc versions later than ");
  const int first_refused = number_after(host_config_h, "clang version must be less than ");
  if (first_refused > 0) bounds.clang_max = first_refused - 1;
  return bounds;
}

bool HostCompilerBounds::accepts(const HostCompiler& compiler) const {
  const int max = compiler.family == "clang" ? clang_max : gcc_max;
  return max == 0 || compiler.version.major() <= max;
}

std::string HostCompilerBounds::text() const {
  std::vector<std::string> bounds;
  if (gcc_max > 0) bounds.push_back("gcc <= " + std::to_string(gcc_max));
  if (clang_max > 0) bounds.push_back("clang <= " + std::to_string(clang_max));
  return bounds.empty() ? "any gcc or clang" : join(bounds, ", ");
}

}  // namespace dsbuild
