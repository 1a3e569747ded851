#include "driver/pack_commit.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("The URL of a repository names no user, no password and no folder of this machine") {
  CHECK(repository_url("https://github.com/a/b.git") == "https://github.com/a/b.git");
  CHECK(repository_url("https://user:pass@word@host:8443/a/b") == "https://host:8443/a/b");
  CHECK(repository_url("git@github.com:a/b.git") == "ssh://github.com/a/b.git");
  CHECK(repository_url("ssh://git@host/a@b") == "ssh://host/a@b");
  for (const char* folder : {"", "/srv/git/a", "../a", "./a:b", "file:///srv/a", "a", "https://"})
    CHECK(repository_url(folder).empty());
}
