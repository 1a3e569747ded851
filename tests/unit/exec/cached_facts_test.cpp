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

namespace {

// A distant cache: what a machine puts there, and how often another waits for it.
struct DistantCache : Upstream {
  explicit DistantCache(FakeFileSystem& of_files) : files(of_files) {}
  bool fetch(UpstreamKind, const std::string& name) override {
    if (!asked.insert(name).second) return false;
    ++rounds;
    return copy(name);
  }
  void fetch_together(UpstreamKind, const std::vector<std::string>& names) override {
    if (names.empty()) return;
    ++rounds;
    for (const std::string& name : names) {
      asked.insert(name);
      (void)copy(name);
    }
  }
  void added(UpstreamKind, const std::string& name) override {
    const auto records = TieredCache(files, "/store").find_records(name);
    there[name] = {records.rbegin(), records.rend()};
  }
  bool copy(const std::string& name) {
    const TieredCache here(files, "/store");
    for (const std::string& record : there[name])
      here.put_record(name, record);
    return !there[name].empty();
  }

  FakeFileSystem& files;
  std::map<std::string, std::vector<std::string>> there;
  std::set<std::string> asked;
  int rounds = 0;
};

// One that shares, and asks for these facts: what it gets, and after how many rounds.
std::pair<int, std::vector<std::optional<std::string>>> ask(DistantCache& before, FakeFileSystem& files,
                                                            const std::vector<std::string>& keys) {
  auto distant = std::make_shared<DistantCache>(files);
  distant->there = before.there;
  DigestMemo digests(files, "/digests", Trust::identities);
  CachedFacts cached(files, "/store", digests);
  cached.share_with(distant);
  std::vector<std::optional<std::string>> values;
  for (const std::string& key : keys) {
    values.push_back(cached.find(key, {"", {"/bin/nvcc"}}));
    if (!values.back()) cached.put(key, {"", {"/bin/nvcc"}}, "value of " + key);
  }
  cached.put_hint();
  before.there = distant->there;
  return {distant->rounds, values};
}

FakeFileSystem machine_with(const std::string& nvcc) {
  FakeFileSystem files;
  files.add_file("/bin/nvcc", nvcc);
  return files;
}

}  // namespace

TEST_CASE("Facts that builds ask for one after the other are fetched in two rounds") {
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"};
  FakeFileSystem first = machine_with("nvcc"), second = machine_with("nvcc");
  DistantCache distant(first);
  CHECK(ask(distant, first, keys).first == 6);  // the first question asks for the hint, too
  const auto [rounds, values] = ask(distant, second, keys);
  CHECK(rounds == 2);
  for (size_t i = 0; i < keys.size(); ++i)
    CHECK(values[i] == "value of " + keys[i]);

  // A fact more is asked for alone, and then hinted at; the others' hints stay.
  FakeFileSystem third = machine_with("nvcc"), fourth = machine_with("nvcc"), fifth = machine_with("nvcc");
  CHECK(ask(distant, third, {"a", "b", "x"}).first == 3);
  CHECK(ask(distant, fourth, {"a", "b", "x"}).first == 2);
  CHECK(ask(distant, fifth, keys).first == 2);
}

TEST_CASE("A hint says nothing of other bytes, and a damaged one harms nobody") {
  FakeFileSystem first = machine_with("nvcc"), other = machine_with("nvcC"), third = machine_with("nvcc");
  DistantCache distant(first);
  (void)ask(distant, first, {"a", "b"});
  CHECK(ask(distant, other, {"a", "b"}).second ==
        std::vector<std::optional<std::string>>{std::nullopt, std::nullopt});
  for (auto& [name, records] : distant.there)
    for (std::string& record : records)
      if (record.starts_with("dsbuild-facts 1\n"))
        record = "dsbuild-facts 1\n../../x\n\n" + std::string(64, 'f') + "\n";
  CHECK(ask(distant, third, {"a", "b"}).second.back() == "value of b");
}
