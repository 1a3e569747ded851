// The form is that of the OpenMetrics specification 1.0; tests/cli/remote_seen_test.py reads it with
// Prometheus' own parser.
#include "report/metrics.h"

#include <catch2/catch.hpp>

#include "base/text.h"

using namespace dsbuild;

TEST_CASE("metrics: a machine that has built nothing") {
  const std::string text = render_metrics({});
  CHECK(text.starts_with(
      "# TYPE dsbuild_builds counter\n# HELP dsbuild_builds Builds that had something to do.\n"
      "dsbuild_builds_total{result=\"published\"} 0\ndsbuild_builds_total{result=\"failed\"} 0\n"
      "# TYPE dsbuild_build_seconds counter\n# UNIT dsbuild_build_seconds seconds\n"));
  CHECK(text.ends_with("dsbuild_cache_saved_cpu_seconds_total 0.000\n# EOF\n"));
  CHECK(text.find("last_build") == std::string::npos);
  CHECK(text.find("remote") == std::string::npos);
}

TEST_CASE("metrics: labels are escaped, times are seconds") {
  CacheCounts counts;
  counts.remote["a\"b\\c"] = {.saved_milliseconds = 61'005, .untrusted = 3};
  const std::string text = render_metrics(counts);
  const std::string scope = "scope=\"a\\\"b\\\\c\"";
  CHECK(text.find("dsbuild_remote_saved_cpu_seconds_total{" + scope + "} 61.005\n") != std::string::npos);
  CHECK(text.find("dsbuild_remote_refused_total{" + scope + ",reason=\"untrusted\"} 3\n") !=
        std::string::npos);
}

TEST_CASE("metrics: only types that the older text format knows") {
  CacheCounts counts{.builds = 1, .last_build_at = 1'700'000'000};
  counts.remote[""] = {};
  for (const std::string& line : split_lines(render_metrics(counts)))
    if (line.starts_with("# TYPE")) CHECK((line.ends_with(" counter") || line.ends_with(" gauge")));
}
