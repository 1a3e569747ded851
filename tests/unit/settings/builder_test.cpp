#include "settings/builder.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("The builder and its run are CI's, where CI's environment says them") {
  const auto builder = [](const Environment& environment) {
    const MaybeRawSetting id = builder_of_environment(environment),
                          run = invocation_of_environment(environment);
    return (id ? id->text : "none") + " " + (run ? run->text : "none");
  };
  CHECK(builder({}) == "none none");
  CHECK(builder({{"GITHUB_SERVER_URL", "https://github.com"},
                 {"GITHUB_REPOSITORY", "a/b"},
                 {"GITHUB_WORKFLOW_REF", "a/b/.github/workflows/ops.yml@refs/heads/main"},
                 {"GITHUB_RUN_ID", "17"},
                 {"GITHUB_RUN_ATTEMPT", "2"}}) ==
        "https://github.com/a/b/.github/workflows/ops.yml@refs/heads/main "
        "https://github.com/a/b/actions/runs/17/attempts/2");
  CHECK(builder({{"CI_PROJECT_URL", "https://gitlab.com/a/b"},
                 {"CI_RUNNER_ID", "5"},
                 {"CI_JOB_URL", "https://gitlab.com/a/b/-/jobs/9"}}) ==
        "https://gitlab.com/a/b/-/runners/5 https://gitlab.com/a/b/-/jobs/9");
  // Of a program that is no such CI's.
  CHECK(builder({{"CI_RUNNER_ID", "5"}, {"GITHUB_WORKFLOW_REF", "a"}, {"GITHUB_RUN_ID", "7"}}) ==
        "none none");
}
