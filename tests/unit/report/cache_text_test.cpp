#include <catch2/catch.hpp>

#include "report/report.h"

using namespace dsbuild;

namespace {

CacheView view() {
  CacheView view{"/cache", 10ULL << 30, {.entries = 2, .bytes = 2048, .counts = {}}};
  view.stats.counts = {
      .hits = 40, .misses = 8, .saved_milliseconds = 61'500, .last_hits = 3, .last_misses = 1};
  return view;
}

CacheView shared_view() {
  CacheView shared = view();
  CacheCounts& counts = shared.stats.counts;
  counts.remote["main"] = {.hits = 5, .misses = 1, .received_bytes = 2048, .requests = 1, .uploads = 3};
  counts.remote[""] = {.saved_milliseconds = 2500, .lost = 4, .untrusted = 2, .fallbacks = 1};
  counts.last_fallback = "http://h:1: no answer";
  return shared;
}

}  // namespace

TEST_CASE("cache stats: without a shared cache, nothing is said of one") {
  CHECK(render_cache_stats(view(), {}) ==
        "folder             /cache\n"
        "entries            2\n"
        "size               2.0 KiB\n"
        "bound              10.0 GiB\n"
        "hits, last build   3 of 4\n"
        "hits, all builds   40 of 48\n"
        "saved, all builds  1 min 2 s of CPU time\n");
  CHECK(render_cache_stats_json(view()).find("\"remote\":null") != std::string::npos);
}

TEST_CASE("cache stats: what the shared cache gave, in all scopes and in each") {
  const std::string text = render_cache_stats(shared_view(), {});
  CHECK(text.substr(text.find("shared cache")) ==
        "shared cache          5 of 6 found there\n"
        "  saved               2.5 s of CPU time\n"
        "  traffic             2.0 KiB received, 0 B sent, 1 request\n"
        "  uploads             3 results\n"
        "  did not count       2 signed by no trusted key, 4 whose files were gone\n"
        "  went on without it  1 build; the last: http://h:1: no answer\n"
        "  scope (none)        -\n"
        "  scope main          5 of 6\n");
  const auto json = Json::parse(render_cache_stats_json(shared_view()));
  REQUIRE(json);
  const Json* remote = json->find("remote");
  REQUIRE(remote);
  CHECK(remote->find("untrusted")->dump() == "2");
  CHECK(remote->find("scopes")->find("main")->find("hits")->dump() == "5");
  CHECK(*remote->find("last_fallback")->text() == "http://h:1: no answer");
}
