#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "settings/options.h"

namespace dsbuild {

TEST_CASE("a password in a URL is not shown") {
  for (const auto& [url, shown] : std::map<std::string, std::string>{
           {"https://me:word@host:8080/path", "https://***@host:8080/path"},
           {"https://token@host", "https://***@host"},
           {"https://me:wo/rd@with@host/path", "https://***@host/path"},
           {"me:word@host", "***@host"},
           {"s3://me:word@bucket?endpoint=http://h", "s3://***@bucket?endpoint=http://h"},
           {"s3://bucket?endpoint=http://me:word@h", "s3://***@h"},
           {"https://host:8080/path", "https://host:8080/path"},
           {"file:///mnt/cache", "file:///mnt/cache"}}) {
    Arguments arguments;
    arguments["--remote"] = url;
    const auto settings = load_settings(arguments, {}, FakeFileSystem(), "/data");
    REQUIRE(settings);
    std::string row;
    for (const SettingRow& each : setting_rows(*settings))
      if (each.name == "remote") row = each.value;
    CHECK(row == shown);
    CHECK(settings->remote.value == url);
  }
}

}  // namespace dsbuild
