#include "cache/counts.h"

#include <catch2/catch.hpp>
#include <thread>

#include "base/digest.h"
#include "unit/sys/temporary_folder.h"

using namespace dsbuild;

namespace {

CacheCounts example() {
  CacheCounts counts{.builds = 3, .failed_builds = 1, .hits = 40, .misses = 2, .saved_milliseconds = 61'500};
  counts.remote[""] = {.hits = 5, .received_bytes = 1024};
  counts.remote["team a/main"] = {.misses = 7, .fallbacks = 2};
  counts.last_fallback = "http://127.0.0.1:1: connection refused";
  return counts;
}

}  // namespace

TEST_CASE("counts: what is written is read") {
  CHECK(parse_counts(render_counts(example())) == example());
  CHECK(parse_counts(render_counts({})) == CacheCounts{});
}

TEST_CASE("counts: the file has a line for each number that is not 0") {
  const std::string rest =
      "dsbuild-counts 1\nbuilds 2\nhits 7\nlast_fallback a b\nscope main\nreceived_bytes 9\n";
  const CacheCounts counts{
      .builds = 2, .hits = 7, .remote = {{"main", {.received_bytes = 9}}}, .last_fallback = "a\nb"};
  CHECK(render_counts(counts) == sha256(rest) + "\n" + rest);
}

TEST_CASE("counts: a damaged file is begun again") {
  const std::string whole = render_counts(example());
  for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    CHECK(parse_counts(damaged) == CacheCounts{});
  }
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK(parse_counts(whole.substr(0, size)) == CacheCounts{});
  const std::string unknown = "dsbuild-counts 1\nvisits 2\n";
  CHECK(parse_counts(sha256(unknown) + "\n" + unknown) == CacheCounts{});
}

TEST_CASE("counts: builds that end at once lose nothing") {
  const TemporaryFolder folder;
  const auto files = make_real_file_system();
  std::vector<std::thread> builds;
  for (int build = 0; build < 8; ++build)
    builds.emplace_back([&] {
      for (int i = 0; i < 10; ++i)
        update_counts(folder.path(), *files, [](CacheCounts& counts) {
          ++counts.builds;
          add(counts_of_scope(counts, "main"), {.hits = 2, .sent_bytes = 10});
        });
    });
  for (std::thread& build : builds)
    build.join();
  const CacheCounts counts = read_counts(folder.path(), *files);
  CHECK(counts.builds == 80);
  CHECK(counts.remote.at("main") == RemoteCounts{.hits = 160, .sent_bytes = 800});
}

TEST_CASE("counts: scopes are bounded, and none gets lost") {
  CacheCounts counts;
  for (int scope = 0; scope < 500; ++scope)
    counts_of_scope(counts, "pr-" + std::to_string(scope)).hits += 1;
  CHECK(counts.remote.size() == k_most_scopes + 1);
  CHECK(counts.remote.at(k_other_scopes).hits == 500 - k_most_scopes);
  CHECK(sum_of(counts.remote).hits == 500);
}
