#include "exec/cached_facts.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

// A machine that shares its cache, in memory.
struct Sharer {
  FakeFileSystem files;
  const FactBasis basis = {"--help", {"/bin/nvcc", "/bin/nvcc.profile", "/bitcode"}};

  Sharer() {
    files.add_file("/bin/nvcc", "nvcc");
    files.add_file("/bitcode/a.bc", "");
    facts([&](CachedFacts& cached) { cached.put("nvcc", basis, "13.0"); });
  }
  void facts(const std::function<void(CachedFacts&)>& use, Trust trust = Trust::identities) {
    DigestMemo digests(files, "/digests", trust);
    CachedFacts cached(files, "/store", digests);
    use(cached);
    digests.save();
  }
  std::optional<std::string> find(const std::string& key, const FactBasis& by,
                                  Trust trust = Trust::identities) {
    std::optional<std::string> found;
    facts([&](CachedFacts& cached) { found = cached.find(key, by); }, trust);
    return found;
  }
};

}  // namespace

TEST_CASE("A cached fact is found by the bytes of what it rests on") {
  Sharer machine;
  machine.files.add_file("/bin/nvcc", "nvcc");
  CHECK(machine.find("nvcc", machine.basis) == "13.0");
  CHECK_FALSE(machine.find("g++", machine.basis));
  CHECK_FALSE(machine.find("nvcc", {"--version", machine.basis.files}));
  CHECK_FALSE(machine.find("nvcc", {"--help", {"/bin/nvcc"}}));
}

TEST_CASE("A cached fact is not found where a file is not the same") {
  Sharer machine;
  SECTION("other bytes") {
    machine.files.add_file("/bin/nvcc", "nvcC");
  }
  SECTION("it is gone") {
    REQUIRE(machine.files.remove_all("/bin/nvcc"));
  }
  SECTION("it came to be") {
    machine.files.add_file("/bin/nvcc.profile", "");
  }
  SECTION("a folder has one more name") {
    machine.files.add_file("/bitcode/b.bc", "");
  }
  SECTION("it may not be read") {
    machine.files.set_opening("/bin/nvcc", Opening::unreadable);
  }
  CHECK_FALSE(machine.find("nvcc", machine.basis));
}

TEST_CASE("Who trusts no identity reads the files of a cached fact") {
  Sharer machine;
  machine.files.change_unseen("/bin/nvcc", "nvcC");
  CHECK(machine.find("nvcc", machine.basis) == "13.0");
  CHECK_FALSE(machine.find("nvcc", machine.basis, Trust::nothing));
}
