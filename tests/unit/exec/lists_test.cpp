#include "exec/lists.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

size_t lists_in(FakeFileSystem& files) {
  return files.list("/build/lists")->size();
}

void add_lists(FakeFileSystem& files, size_t count) {
  Lists earlier(files, "/build", {});
  for (size_t i = 0; i < count; ++i)
    earlier.put("earlier " + std::to_string(i));
}

}  // namespace

TEST_CASE("A list is named by its content, and one that was damaged is lost") {
  FakeFileSystem files;
  const std::string name = Lists(files, "/build", {}).put("a\nb\n");
  CHECK(name == sha256("a\nb\n"));
  CHECK(Lists(files, "/build", {}).find(name) == "a\nb\n");
  files.add_file("/build/lists/" + name, "a\nc\n");
  CHECK_FALSE(Lists(files, "/build", {}).find(name));
  CHECK(Lists(files, "/build", {}).find("") == "");
}

TEST_CASE("Lists of earlier edits go when there are many of them, and those that are used stay") {
  FakeFileSystem files;
  add_lists(files, Lists::k_spare + 10);
  Lists lists(files, "/build", {});
  const std::string put = lists.put("now"), found = sha256("earlier 3");
  REQUIRE(lists.find(found));
  lists.remove_unused();
  CHECK(lists_in(files) == 2);
  CHECK(Lists(files, "/build", {}).find(put) == "now");
  CHECK(Lists(files, "/build", {}).find(found) == "earlier 3");
}

TEST_CASE("A few unused lists stay") {
  FakeFileSystem files;
  add_lists(files, Lists::k_spare);
  Lists(files, "/build", {}).remove_unused();
  CHECK(lists_in(files) == Lists::k_spare);
}
