#include <algorithm>

#include "toolkit/candidates.h"
#include "toolkit/nvcc_facts.h"
#include "toolkit/toolkit.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

#if defined(__aarch64__)
// Servers' and Jetson's trees; the second is also what NVIDIA calls 64-bit Arm servers.
constexpr const char* k_library_dirs[] = {"lib64", "lib", "targets/sbsa-linux/lib",
                                          "targets/aarch64-linux/lib", "lib/aarch64-linux-gnu"};
constexpr const char* k_include_dirs[] = {"include", "targets/sbsa-linux/include",
                                          "targets/aarch64-linux/include"};
#else
constexpr const char* k_library_dirs[] = {"lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"};
constexpr const char* k_include_dirs[] = {"include", "targets/x86_64-linux/include"};
#endif

Path find_library_dir(const FileReader& files, const Path& home) {
  for (const char* folder : k_library_dirs) {
    if (files.kind(home / folder / "libcudart_static.a") == FileKind::file) return home / folder;
  }
  return {};
}

HostCompilerBounds read_bounds(const FileReader& files, const Path& home) {
  for (const char* folder : k_include_dirs) {
    const Path header = home / folder / "crt" / "host_config.h";
    if (files.kind(header) != FileKind::file) continue;
    if (const auto text = files.read_file(header)) return parse_host_config(*text);
  }
  return {};
}

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

  void consider(const ToolkitCandidate& candidate) {
    const std::optional<std::string> missing = what_is_missing(candidate.home);
    if (missing) {
      if (candidate.named) reject(candidate, *missing);
      return;
    }
    const Path home = system_.files.real_path(candidate.home).value_or(candidate.home);
    if (!seen_.insert(home).second) return;
    auto toolkit = load(home, candidate.origin);
    if (toolkit) {
      toolkits_.found.push_back(std::move(*toolkit));
    } else {
      reject(candidate, toolkit.error());
    }
  }

  Toolkits take() { return std::move(toolkits_); }

 private:
  std::optional<std::string> what_is_missing(const Path& home) const {
    if (system_.files.kind(home) != FileKind::directory) return "there is no such folder";
    if (system_.files.kind(home / "bin" / "nvcc") != FileKind::file) return "it has no bin/nvcc";
    return std::nullopt;
  }

  void reject(const ToolkitCandidate& candidate, const std::string& reason) {
    toolkits_.rejected.push_back({candidate.home, candidate.origin, reason});
  }

  tl::expected<Toolkit, std::string> load(const Path& home, const std::string& origin) {
    Toolkit toolkit;
    toolkit.home = home;
    toolkit.origin = origin;
    toolkit.library_dir = find_library_dir(system_.files, home);
    if (toolkit.library_dir.empty())
      return Reason("it has no libcudart_static.a (nvcc without its libraries)");
    auto facts = ask_nvcc(toolkit.nvcc(), system_, tool_environment(system_.environment, &toolkit), facts_);
    if (!facts) return Reason(facts.error());
    auto digest = digests_.digest(toolkit.nvcc());
    if (!digest) return Reason("bin/nvcc cannot be read: " + digest.error().what);
    toolkit.version = facts->version;
    toolkit.targets = std::move(facts->targets);
    toolkit.options = std::move(facts->options);
    toolkit.nvcc_digest = std::move(*digest);
    toolkit.bounds = read_bounds(system_.files, home);
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
  for (const ToolkitCandidate& candidate : toolkit_candidates(settings, system))
    finder.consider(candidate);
  return finder.take();
}

}  // namespace dsbuild
