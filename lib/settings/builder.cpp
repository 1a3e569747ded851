#include "settings/builder.h"

namespace dsbuild {
namespace {

constexpr const char *k_github = "GITHUB_WORKFLOW_REF", *k_gitlab = "CI_RUNNER_ID",
                     *k_github_server = "GITHUB_SERVER_URL";

std::string text_of(const Environment& environment, const char* name) {
  const MaybeRawSetting given = from_variable(environment, name);
  return given ? given->text : "";
}

// "<server>/<rest>"; nullopt where the environment names no server.
MaybeRawSetting below(const std::string& server, const std::string& rest, const std::string& origin) {
  if (server.empty()) return std::nullopt;
  return RawSetting{server + "/" + rest, origin};
}

}  // namespace

MaybeRawSetting builder_of_environment(const Environment& environment) {
  if (const auto runner = from_variable(environment, k_gitlab))
    if (auto builder = below(text_of(environment, "CI_PROJECT_URL"), "-/runners/" + runner->text, k_gitlab))
      return builder;
  const auto workflow = from_variable(environment, k_github);
  return workflow ? below(text_of(environment, k_github_server), workflow->text, k_github) : std::nullopt;
}

MaybeRawSetting invocation_of_environment(const Environment& environment) {
  if (const auto job = from_variable(environment, "CI_JOB_URL")) return job;
  const auto run = from_variable(environment, "GITHUB_RUN_ID");
  if (!run) return std::nullopt;
  const std::string attempt = text_of(environment, "GITHUB_RUN_ATTEMPT");
  return below(text_of(environment, k_github_server),
               text_of(environment, "GITHUB_REPOSITORY") + "/actions/runs/" + run->text +
                   (attempt.empty() ? "" : "/attempts/" + attempt),
               run->origin);
}

}  // namespace dsbuild
