#include "settings/given.h"

namespace dsbuild {

MaybeGiven first_given(std::initializer_list<MaybeGiven> by_precedence) {
  for (const MaybeGiven& given : by_precedence) {
    if (given) return given;
  }
  return std::nullopt;
}

MaybeGiven from_argument(const std::optional<std::string>& argument, const std::string& option) {
  if (!argument) return std::nullopt;
  return Given{*argument, option};
}

MaybeGiven from_variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return Given{found->second, name};
}

MaybeGiven from_config(const ConfigEntries& config, const std::string& key) {
  const auto found = config.find(key);
  if (found == config.end()) return std::nullopt;
  return found->second;
}

}  // namespace dsbuild
