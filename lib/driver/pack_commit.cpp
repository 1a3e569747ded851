#include "driver/pack_commit.h"

#include <algorithm>
#include <set>

#include "base/args.h"

namespace dsbuild {
namespace {

// What says where its repository is, or how it is found, is the checkout itself.
Environment environment_of_git(const System& system) {
  Environment environment = {{"LC_ALL", "C"}, {"GIT_OPTIONAL_LOCKS", "0"}};
  for (const auto& [name, value] : system.environment)
    if (name == "PATH" || name == "HOME" || name == "XDG_CONFIG_HOME" || name.starts_with("GIT_CONFIG"))
      environment.emplace(name, value);
  return environment;
}

bool is_in_checkout(const Path& folder, const FileReader& files) {
  for (Path at = folder; at.has_relative_path(); at = at.parent_path())
    if (files.kind(at / ".git") != FileKind::absent) return true;
  return false;
}

class Git {
 public:
  Git(const Path& folder, const System& system) : folder_(folder), system_(system) {}

  std::optional<std::string> ask(Args words) const {
    words.insert(words.begin(), "git");
    const auto said = system_.processes.run({words, environment_of_git(system_), folder_});
    if (!said || !said->ok()) return std::nullopt;
    return said->out;
  }

  // Of a list with a zero byte behind each.
  std::optional<std::set<std::string>> names(Args words) const {
    const auto said = ask(std::move(words));
    if (!said) return std::nullopt;
    const Args all = split(*said, std::string_view("\0", 1));
    return std::set<std::string>(all.begin(), all.end());
  }

 private:
  const Path& folder_;
  const System& system_;
};

}  // namespace

std::string repository_url(const std::string& remote) {
  constexpr std::string_view k_scheme_end = "://";
  const size_t scheme = remote.find(k_scheme_end);
  const size_t host = scheme == std::string::npos ? 0 : scheme + k_scheme_end.size();
  const size_t end = remote.find_first_of(scheme == std::string::npos ? ":" : "/", host);
  if (end == std::string::npos || end == host || remote.starts_with("file:")) return "";
  const size_t at = remote.rfind('@', end);
  const size_t name = at == std::string::npos || at < host ? host : at + 1;
  if (scheme != std::string::npos) return remote.substr(0, host) + remote.substr(name);
  if (remote.find('/') < end) return "";
  return "ssh://" + remote.substr(name, end - name) + "/" + remote.substr(end + 1);
}

std::optional<PackCommit> find_pack_commit(const Path& source_root, const std::vector<std::string>& sources,
                                           const System& system) {
  if (!is_in_checkout(source_root, system.files)) return std::nullopt;
  const Git git(source_root, system);
  const auto commit = git.ask({"rev-parse", "--verify", "HEAD"});
  const auto known = git.names({"ls-tree", "-r", "--name-only", "-z", "HEAD"});
  const auto changed = git.names({"diff", "--name-only", "--relative", "-z", "HEAD", "--", "."});
  if (!commit || !known || !changed) return std::nullopt;
  PackCommit found{trim(*commit), "", {}};
  for (const std::string& source : sources)
    if (!known->contains(source) || changed->contains(source)) found.modified.push_back(source);
  const bool is_of_checkout =
      std::ranges::any_of(sources, [&](const std::string& source) { return known->contains(source); });
  if (!is_of_checkout) return std::nullopt;
  if (const auto remote = git.ask({"config", "--get", "remote.origin.url"}))
    found.repository = repository_url(trim(*remote));
  return found;
}

}  // namespace dsbuild
