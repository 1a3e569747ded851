#include <algorithm>

#include "toolkit/nvcc_family.h"
#include "toolkit/wrappers.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

std::optional<HostCompiler> first_accepted(const std::vector<HostCompiler>& compilers,
                                           const HostCompilerBounds& bounds) {
  const auto found = std::find_if(compilers.begin(), compilers.end(),
                                  [&](const HostCompiler& compiler) { return bounds.accepts(compiler); });
  return found == compilers.end() ? std::nullopt : std::optional(*found);
}

std::vector<ToolkitCandidate> named_candidates(const CompilerFamily& family, const Settings& settings) {
  std::vector<ToolkitCandidate> named;
  if (demands_home(family, settings))
    named.push_back({(settings.*family.home).value, family.home_option, true});
  for (const char* variable : family.home_variables)
    if (const std::string home = settings.variable(variable); !home.empty())
      named.push_back({home, variable, true});
  return named;
}

class Finder {
 public:
  Finder(System& system, FactStore& facts, DigestMemo& digests)
      : system_(system), facts_(facts), digests_(digests) {}

  void find_hosts(const Settings& settings) {
    toolkits_.host_compilers = find_host_compilers(settings, system_, facts_);
  }

  void consider(const CompilerFamily& family, const ToolkitCandidate& candidate) {
    const Path home = system_.files.real_path(candidate.home).value_or(candidate.home);
    std::vector<std::string> compilers;
    if (family.other_compilers) compilers = family.other_compilers(home, system_.files);
    if (!compilers.empty()) {
      for (const std::string& compiler : compilers)
        load_once(family, candidate, home, compiler);
    } else if (const auto missing = what_is_missing(family, candidate.home)) {
      if (candidate.named) reject(family, candidate, *missing);
    } else {
      load_once(family, candidate, home, "");
    }
  }

  // Of a family that was named by its compiler.
  tl::expected<Toolkit, std::string> load_at(const CompilerFamily& family, const Path& home) {
    Toolkit toolkit;
    toolkit.family = &family;
    toolkit.home = home;
    return load(std::move(toolkit));
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

  void reject(const CompilerFamily& family, const ToolkitCandidate& candidate, const std::string& reason) {
    toolkits_.rejected.push_back({candidate.home, candidate.origin, reason, &family});
  }

  void load_once(const CompilerFamily& family, const ToolkitCandidate& candidate, const Path& home,
                 const std::string& compiler) {
    Toolkit toolkit;
    toolkit.family = &family;
    toolkit.home = home;
    toolkit.origin = candidate.origin;
    toolkit.other_compiler = compiler;
    const Path folder = toolkit.compiler().parent_path();
    if (!seen_.emplace(&family, system_.files.real_path(folder).value_or(folder)).second) return;
    auto loaded = load(std::move(toolkit));
    if (loaded) {
      toolkits_.found.push_back(std::move(*loaded));
    } else {
      reject(family, candidate, loaded.error());
    }
  }

  tl::expected<Toolkit, std::string> load(Toolkit toolkit) {
    const CompilerFamily& family = *toolkit.family;
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
  std::set<std::pair<const CompilerFamily*, Path>> seen_;  // and the folder of the compiler
};

}  // namespace

Toolkits find_toolkits(const Settings& settings, System& system, FactStore& facts, DigestMemo& digests) {
  Finder finder(system, facts, digests);
  finder.find_hosts(settings);
  for (const CompilerFamily* family : compiler_families()) {
    for (const ToolkitCandidate& candidate : named_candidates(*family, settings))
      finder.consider(*family, candidate);
    for (const ToolkitCandidate& candidate : family->candidates(settings, system))
      finder.consider(*family, candidate);
  }
  return finder.take();
}

tl::expected<Toolkit, std::string> find_toolkit_of(const Path& nvcc, System& system, FactStore& facts,
                                                   DigestMemo& digests) {
  const Path program = system.files.real_path(nvcc).value_or(nvcc),
             home = program.parent_path().parent_path();
  if (is_wrapper(program, nvcc_proof(), system, facts)) return Reason("it starts another program");
  if (home / k_nvcc_family.compiler != program)
    return Reason(std::string("it is no ") + k_nvcc_family.compiler + " of a toolkit");
  return Finder(system, facts, digests).load_at(k_nvcc_family, home);
}

}  // namespace dsbuild
