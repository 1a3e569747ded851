// The data trees through the real disk and real processes: they work as --cuda-home for other tests too.
#include <catch2/catch.hpp>

#include "toolkit/toolkit.h"
#include "unit/toolkit/machine.h"

using namespace dsbuild;

TEST_CASE("A fake toolkit tree on disk is found as a toolkit") {
  const std::string version = GENERATE("11.8", "12.4", "12.8", "12.9", "13.0");
  const auto files = make_real_file_system();
  const auto processes = make_real_process_runner();
  System system{*files, *processes, {{"PATH", "/usr/bin:/bin"}}};
  Settings settings;
  settings.cuda_home = {toolkit_data(version), "--cuda-home"};
  settings.cache_dir = "/nonexistent";
  FactStore facts(*files, "/nonexistent/facts.json");
  DigestMemo digests(*files, "/nonexistent/digests");
  const Toolkits toolkits = find_toolkits(settings, system, facts, digests);
  REQUIRE_FALSE(toolkits.found.empty());
  CHECK(toolkits.found[0].origin == "--cuda-home");
  CHECK(toolkits.found[0].version.short_text() == version);
  CHECK_FALSE(toolkits.found[0].targets.empty());
}
