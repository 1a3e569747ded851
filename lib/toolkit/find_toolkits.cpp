#include <algorithm>

#include "toolkit/family.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

std::optional<HostCompiler> first_accepted(const std::vector<HostCompiler>& compilers,
                                           const HostCompilerBounds& bounds) {
  const auto found = std::find_if(compilers.begin(), compilers.end(),
                                  [&](const HostCompiler& compiler) { return bounds.accepts(compiler); });
  return found == compilers.end() ? std::nullopt : std::optional(*found);
}

class Finder {
 public:
  Finder(const Settings& settings, System& system, FactStore& facts, DigestMemo& digests)
      : system_(system), facts_(facts), digests_(digests) {
    toolkits_.host_compilers = find_host_compilers(settings, system, facts);
  }

  void consider(const CompilerFamily& family, const ToolkitCandidate& candidate) {
    const std::optional<std::string> missing = what_is_missing(family, candidate.home);
    if (missing) {
      if (candidate.named) reject(candidate, *missing);
      return;
    }
    const Path home = system_.files.real_path(candidate.home).value_or(candidate.home);
    if (!seen_.insert(home / family.compiler).second) return;
    auto toolkit = load(family, home, candidate.origin);
    if (toolkit) {
      toolkits_.found.push_back(std::move(*toolkit));
    } else {
      reject(candidate, toolkit.error());
    }
  }

  Toolkits take() { return std::move(toolkits_); }

 private:
  std::optional<std::string> what_is_missing(const CompilerFamily& family, const Path& home) const {
    if (system_.files.kind(home) != FileKind::directory)
      return "there is no such folder" + hint_at_home(family, home);
    if (system_.files.kind(home / family.compiler) != FileKind::file)
      return std::string("it has no ") + family.compiler + hint_at_home(family, home);
    return std::nullopt;
  }

  // Where its bin folder or its nvcc was named.
  std::string hint_at_home(const CompilerFamily& family, const Path& named) const {
    for (Path above = named.parent_path(); above.has_relative_path(); above = above.parent_path())
      if (system_.files.kind(above / family.compiler) == FileKind::file)
        return " (did you mean '" + above.string() + "'?)";
    return "";
  }

  void reject(const ToolkitCandidate& candidate, const std::string& reason) {
    toolkits_.rejected.push_back({candidate.home, candidate.origin, reason});
  }

  tl::expected<Toolkit, std::string> load(const CompilerFamily& family, const Path& home,
                                          const std::string& origin) {
    Toolkit toolkit;
    toolkit.family = &family;
    toolkit.home = home;
    toolkit.origin = origin;
    if (auto described = family.describe(toolkit, system_, facts_); !described)
      return Reason(described.error());
    auto digest = digests_.digest(toolkit.compiler());
    if (!digest) return Reason(std::string(family.compiler) + " cannot be read: " + digest.error().what);
    toolkit.compiler_digest = std::move(*digest);
    toolkit.host = first_accepted(toolkits_.host_compilers, toolkit.bounds);
    return toolkit;
  }

  System& system_;
  FactStore& facts_;
  DigestMemo& digests_;
  Toolkits toolkits_;
  std::set<Path> seen_;
};

}  // namespace

Toolkits find_toolkits(const Settings& settings, System& system, FactStore& facts, DigestMemo& digests) {
  Finder finder(settings, system, facts, digests);
  for (const CompilerFamily* family : compiler_families())
    for (const ToolkitCandidate& candidate : family->candidates(settings, system))
      finder.consider(*family, candidate);
  return finder.take();
}

}  // namespace dsbuild
