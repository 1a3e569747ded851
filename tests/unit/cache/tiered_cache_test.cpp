#include "cache/tiered_cache.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>

#include "cache/size_record.h"
#include "fakes/fake_file_system.h"
#include "fakes/faulty_file_system.h"
#include "unit/sys/temporary_folder.h"

using namespace dsbuild;

namespace {

constexpr int64_t k_second = 1'000'000'000;

// 64 hex digits that begin with these.
std::string key(const std::string& digits) {
  return digits + std::string(64 - digits.size(), '0');
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct World {
  TemporaryFolder folder;
  std::unique_ptr<FileSystem> files = make_real_file_system();
  TieredCache store{*files, path()};

  Path path() const { return folder / "store"; }
  Path file_of(const std::string& key) const { return path() / "ac" / key.substr(0, 2) / key.substr(2); }
  std::vector<Path> blobs() const {
    std::vector<Path> found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path() / "cas"))
      if (file.is_regular_file()) found.push_back(file.path());
    return found;
  }
  // An entry of some kilobytes that do not compress, as if it had been used last so many seconds ago.
  void put(const std::string& key, int64_t seconds_ago, size_t bytes = 10'000) {
    std::string noise;
    uint64_t state = std::stoull(key.substr(0, 8), nullptr, 16) + 1;
    while (noise.size() < bytes) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      noise += static_cast<char>(state >> 56);
    }
    std::set<Path> before;
    if (files->kind(path() / "cas") == FileKind::directory)
      for (const Path& blob : blobs())
        before.insert(blob);
    store.put(key, {{".x", noise}});
    const int64_t used = now_ns() - seconds_ago * k_second;
    REQUIRE(files->set_mtime(file_of(key), used));
    for (const Path& blob : blobs())
      if (before.count(blob) == 0) REQUIRE(files->set_mtime(blob, used));
  }
  int64_t seconds_since_use(const std::string& key) const {
    return (now_ns() - files->identity(file_of(key))->mtime_ns) / k_second;
  }
  bool has(const std::string& key) const { return files->kind(file_of(key)) == FileKind::file; }
  // By flipping a bit in the middle.
  void damage(const Path& file) {
    std::string bytes = files->read_file(file).value();
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    REQUIRE(files->write_file(file, bytes));
  }
};

const CacheEntry k_entry = {{".ptx", "the PTX"}, {".cubin", std::string("\0\x7f", 2)}};

// A disk of several nodes, which lists names before it shows the files.
struct LateFiles : FaultyFileSystem {
  explicit LateFiles(FileSystem& real) : FaultyFileSystem(real, 1 << 30, Fault::error) {}
  std::set<Path> late;

  bool is_late(const Path& path) const { return late.count(path) > 0; }
  FileKind own_kind(const Path& path) const override {
    return is_late(path) ? FileKind::absent : FaultyFileSystem::own_kind(path);
  }
  Result<std::string> read_file(const Path& path) const override {
    if (is_late(path)) return fail(Exit::failed, "io", path.string(), "reading: No such file or directory");
    return FaultyFileSystem::read_file(path);
  }
};

}  // namespace

TEST_CASE("an entry that shows up late is a miss, and one's own takes its place, whole") {
  World world;
  LateFiles files(*world.files);
  const TieredCache here(files, world.path());
  const CacheEntry ours = {{".o", "ours"}};
  world.store.put(key("aa"), k_entry);
  files.late = {world.file_of(key("aa"))};
  CHECK_FALSE(here.find(key("aa")));
  here.put(key("aa"), ours);
  CHECK(world.store.find(key("aa")) == ours);
  files.late.clear();
  CHECK(here.find(key("aa")) == ours);
}

TEST_CASE("a store whose marker shows up late is no foreign folder, and nothing is written there meanwhile") {
  World world;
  LateFiles files(*world.files);
  const TieredCache here(files, world.path());
  world.store.put(key("aa"), k_entry);
  files.late = {world.path() / "CACHEDIR.TAG"};
  CHECK(here.check());
  here.put(key("bb"), k_entry);
  CHECK_FALSE(world.store.find(key("bb")));
  files.late.clear();
  here.put(key("bb"), k_entry);
  CHECK(world.store.find(key("bb")) == k_entry);
}

TEST_CASE("what was put is found, by another process too; what was not put is not found") {
  World world;
  CHECK_FALSE(world.store.find(key("aa")));
  world.store.put(key("aa"), k_entry);
  CHECK(world.store.find(key("aa")) == k_entry);
  CHECK(TieredCache(*world.files, world.path()).find(key("aa")) == k_entry);
  CHECK_FALSE(world.store.find(key("ab")));
  CHECK_FALSE(world.store.find(key("aa1")));
}

TEST_CASE("looking for something makes no folder") {
  World world;
  CHECK_FALSE(world.store.find(key("aa")));
  CHECK(world.store.stats() == CacheStats{});
  CHECK(world.store.prune(0) == CacheRemoval{});
  CHECK(world.store.clear() == CacheRemoval{});
  world.store.end_build({1, 1}, 0);
  CHECK(world.files->kind(world.path()) == FileKind::absent);
}

TEST_CASE("a damaged entry is never handed out, and is removed") {
  World world;
  world.store.put(key("aa"), k_entry);
  world.damage(world.file_of(key("aa")));
  CHECK_FALSE(world.store.find(key("aa")));
  CHECK_FALSE(world.has(key("aa")));
  world.store.put(key("aa"), k_entry);
  CHECK(world.store.find(key("aa")) == k_entry);
}

TEST_CASE("an entry with a damaged or lost file is absent, and as good as new when it is put again") {
  for (const bool is_lost : {true, false}) {
    World world;
    world.store.put(key("aa"), k_entry);
    const Path blob = world.blobs().back();
    if (is_lost)
      REQUIRE(world.files->remove_all(blob));
    else
      world.damage(blob);
    CHECK_FALSE(world.store.find(key("aa")));
    CHECK_FALSE(world.has(key("aa")));
    world.store.put(key("aa"), k_entry);
    CHECK(world.store.find(key("aa")) == k_entry);
  }
}

TEST_CASE("the same bytes of two entries are stored once") {
  World world;
  world.store.put(key("aa"), k_entry);
  world.store.put(key("bb"), k_entry);
  CHECK(world.blobs().size() == k_entry.size());
  CHECK(world.store.find(key("bb")) == k_entry);
}

TEST_CASE("a key's records are found, the newest first, of many only the newest ones") {
  World world;
  CHECK(world.store.find_records(key("aa")).empty());
  for (const char* record : {"1", "2", "1"})
    world.store.put_record(key("aa"), record);
  CHECK(world.store.find_records(key("aa")) == std::vector<std::string>{"1", "2"});
  for (const char* record : {"3", "4", "5"})
    world.store.put_record(key("aa"), record);
  CHECK(world.store.find_records(key("aa")) == std::vector<std::string>{"5", "4", "3", "1"});
}

TEST_CASE("a record that was lost is stored again with its key's list as it is") {
  World world;
  world.store.put_record(key("aa"), "1");
  REQUIRE(world.files->remove_all(world.blobs().front()));
  CHECK(world.store.find_records(key("aa")).empty());
  world.store.put_record(key("aa"), "1");
  CHECK(world.store.find_records(key("aa")) == std::vector<std::string>{"1"});
}

TEST_CASE("an entry under another key's name is never handed out, and is removed") {
  World world;
  world.store.put(key("aa"), k_entry);
  world.store.put(key("ab"), k_entry);
  REQUIRE(world.files->rename(world.file_of(key("aa")), world.file_of(key("ab"))));
  CHECK_FALSE(world.store.find(key("ab")));
  CHECK_FALSE(world.has(key("ab")));
}

TEST_CASE("a link in an entry's place is not followed") {
  World world;
  world.store.put(key("aa"), k_entry);
  REQUIRE(world.files->rename(world.file_of(key("aa")), world.folder / "elsewhere"));
  REQUIRE(world.files->make_symlink(world.folder / "elsewhere", world.file_of(key("aa"))));
  CHECK_FALSE(world.store.find(key("aa")));
  CHECK(world.files->kind(world.folder / "elsewhere") == FileKind::file);
  CHECK(world.store.stats()->entries == 0);
}

TEST_CASE("a find marks the entry as used, but writes nothing where it was used just now") {
  World world;
  world.put(key("aa"), 1000);
  world.put(key("bb"), 20);
  CHECK(world.store.find(key("aa")));
  CHECK(world.store.find(key("bb")));
  CHECK(world.seconds_since_use(key("aa")) < 10);
  CHECK(world.seconds_since_use(key("bb")) >= 20);
}

TEST_CASE("what was used in the future, by a clock that went wrong, was used now") {
  World world;
  world.put(key("aa"), -1'000'000);
  CHECK(world.store.find(key("aa")));
  CHECK(world.seconds_since_use(key("aa")) >= 0);
}

TEST_CASE("pruning removes what was not used for longest, down to nine tenths of the bound") {
  World world;
  for (int i = 0; i < 10; ++i)
    world.put(key("0" + std::to_string(i)), 1000 - 10 * i);
  const unsigned long long bytes = world.store.stats()->bytes;
  CHECK(world.store.prune(bytes) == CacheRemoval{});
  CHECK(world.store.find(key("00")));  // now it is the youngest
  const auto removal = world.store.prune(bytes - 1);
  CHECK(removal->entries == 1);
  CHECK_FALSE(world.has(key("01")));
  CHECK(world.store.prune(bytes / 2)->entries == 5);
  CHECK(world.has(key("00")));
  CHECK(world.has(key("09")));
  CHECK_FALSE(world.has(key("05")));
  CHECK(world.store.stats()->bytes <= bytes / 2 - bytes / 20);
}

TEST_CASE("pruning removes what killed processes left, and not what others write just now") {
  World world;
  world.put(key("aa"), 0);
  const Path old = world.path() / "ac/aa/.123.dsbuild-tmp", fresh = world.path() / "ac/aa/.4.dsbuild-tmp";
  REQUIRE(world.files->write_file(old, "half"));
  REQUIRE(world.files->write_file(fresh, "half"));
  REQUIRE(world.files->set_mtime(old, now_ns() - 7200 * k_second));
  const Path marker = world.path() / ".5.dsbuild-tmp";
  REQUIRE(world.files->write_file(marker, "half"));
  REQUIRE(world.files->set_mtime(marker, now_ns() - 7200 * k_second));
  CHECK(world.store.prune(1 << 30) == CacheRemoval{});
  CHECK(world.files->kind(old) == FileKind::absent);
  CHECK(world.files->kind(marker) == FileKind::absent);
  CHECK(world.files->kind(fresh) == FileKind::file);
}

TEST_CASE("clearing removes all entries and counts, and nothing else") {
  World world;
  world.put(key("aa"), 0);
  world.put(key("bb"), 0);
  world.store.end_build({3, 0}, 1 << 30);
  const Path mine = world.path() / "notes", lost = world.path() / "ac/aa/mine";
  REQUIRE(world.files->write_file(mine, "x"));
  REQUIRE(world.files->write_file(lost, "x"));
  CHECK(world.store.clear()->entries == 2);
  CHECK(world.store.stats() == CacheStats{});
  CHECK(world.files->kind(mine) == FileKind::file);
  CHECK(world.files->kind(lost) == FileKind::file);
  world.store.put(key("aa"), k_entry);
  CHECK(world.store.find(key("aa")));
}

TEST_CASE("a folder with other files is no store: nothing is written there, nothing removed") {
  World world;
  REQUIRE(world.files->make_directories(world.file_of(key("aa")).parent_path()));
  REQUIRE(world.files->write_file(world.file_of(key("aa")), "an object of a git repository with SHA-256"));
  world.store.put(key("bb"), k_entry);
  CHECK_FALSE(world.has(key("bb")));
  for (const auto& code : {world.store.check().error().code, world.store.stats().error().code,
                           world.store.prune(0).error().code, world.store.clear().error().code})
    CHECK(code == "foreign_cache_dir");
  CHECK(world.has(key("aa")));
}

TEST_CASE("another program's cache is no store either") {
  World world;
  REQUIRE(world.files->make_directories(world.path()));
  REQUIRE(
      world.files->write_file(world.path() / "CACHEDIR.TAG",
                              "Signature: 8a477f597d28d172789f06886806bc55\n# Made by another program\n"));
  CHECK(world.store.check().error().exit == Exit::usage);
}

TEST_CASE("an empty folder becomes a store, as does one in which another process begins") {
  World world;
  REQUIRE(world.files->make_directories(world.path()));
  REQUIRE(world.files->write_file(world.path() / ".1.dsbuild-tmp", "Sig"));
  CHECK(world.store.check());
  world.store.put(key("aa"), k_entry);
  CHECK(world.store.find(key("aa")));
}

TEST_CASE("a write that fails, wherever it does, leaves a whole entry or none") {
  for (int fail_at = 1;; ++fail_at) {
    World world;
    FaultyFileSystem faulty(*world.files, fail_at, Fault::error);
    TieredCache(faulty, world.path()).put(key("aa"), k_entry);
    if (!faulty.was_hit()) break;
    INFO("change " << fail_at);
    const auto found = world.store.find(key("aa"));
    CHECK((!found || *found == k_entry));
    world.store.put(key("aa"), k_entry);
    CHECK(world.store.find(key("aa")) == k_entry);
  }
}

TEST_CASE("hits and misses are those of the last build and of all") {
  World world;
  world.put(key("aa"), 0);
  const CacheUses with_time{2, 0, {}, {{key("aa"), 1500, "a.o"}, {"", 20, "b.o"}}};
  for (const CacheUses& uses : {CacheUses{3, 4}, with_time, CacheUses{0, 0}})
    world.store.end_build(uses, 1 << 30);
  CHECK(world.store.stats()->counts == CacheCounts{.hits = 5,
                                                   .misses = 4,
                                                   .saved_milliseconds = 1520,
                                                   .last_hits = 2,
                                                   .last_saved_milliseconds = 1520});
}

TEST_CASE("counts are not written into a folder that is no cache") {
  World world;
  REQUIRE(world.files->make_directories(world.path()));
  world.store.end_build({1, 0}, 1 << 30);
  world.store.count([](CacheCounts& counts) { ++counts.builds; });
  CHECK(world.files->list(world.path())->empty());
}

TEST_CASE(
    "a build that put something ends with the store within its bound; one that only found does not look") {
  World world;
  for (int i = 0; i < 4; ++i)
    world.put(key("0" + std::to_string(i)), 100 - i);
  const unsigned long long bytes = world.store.stats()->bytes;
  world.store.end_build({5, 0}, bytes / 2);
  CHECK(world.store.stats()->entries == 4);
  world.store.end_build({5, 1}, bytes / 2);
  CHECK(world.store.stats()->bytes <= bytes / 2);
}

TEST_CASE("a build looks at the entries only where what was put since the last look may be too much") {
  World world;
  world.put(key("00"), 100);
  const unsigned long long bytes = world.store.stats()->bytes;
  world.store.end_build({0, 1}, 3 * bytes);
  const Path unknown = world.file_of(key("11"));  // nobody told the record of it
  REQUIRE(world.files->make_directories(unknown.parent_path()));
  REQUIRE(world.files->write_file(unknown, std::string(10 * bytes, 'x')));
  REQUIRE(world.files->set_mtime(unknown, 1));
  world.put(key("22"), 50);
  world.store.end_build({0, 1}, 3 * bytes);
  CHECK(world.has(key("11")));
  world.put(key("33"), 20);
  world.put(key("44"), 10);
  world.store.end_build({0, 1}, 3 * bytes);
  CHECK_FALSE(world.has(key("11")));
  CHECK(world.store.stats()->bytes <= 3 * bytes);
  CHECK(world.has(key("44")));
}

TEST_CASE("without a record of the size, or with one that is damaged or long, a build looks at the entries") {
  World world;
  const Path record = world.path() / "size";
  const std::string forms[] = {"",        "+1\n",      "=x\n",
                               "=1\n+\n", "=1\nnoise", "=0\n" + std::string(70'000, '\n')};
  for (const std::string& form : forms) {
    world.put(key("00"), 100);
    REQUIRE(world.files->write_file(record, form));
    world.store.end_build({0, 1}, 1);
    INFO(form.substr(0, 20));
    CHECK(world.store.stats()->entries == 0);
    CHECK(world.files->read_file(record) == "=0\n");
  }
}

TEST_CASE("the steps of a build say what they found, and the build takes it once") {
  World world;
  const Path before = std::filesystem::current_path();
  std::filesystem::current_path(world.folder.path());
  note_cache_hit({key("aa"), 70, "a b.o"}, *world.files);
  note_cache_miss(*world.files);
  note_cache_hit({"", 0, "c.o"}, *world.files);
  for (const char* what : {"a.h has changed", "more\nof.h is gone", "a.h has changed"})
    note_cache_difference(what, *world.files);
  std::filesystem::current_path(before);
  CHECK(take_cache_uses(world.folder.path(), *world.files) ==
        CacheUses{2,
                  1,
                  {{"a.h has changed", 2}, {"more of.h is gone", 1}},
                  {{key("aa"), 70, "a b.o"}, {"", 0, "c.o"}}});
  CHECK(take_cache_uses(world.folder.path(), *world.files) == CacheUses{});
}

TEST_CASE("a damaged record of the store's size is none") {
  FakeFileSystem files;
  for (const char* text : {"=100\n\n+5\n", "=\n", "+5\n", "", "=100\nx\n"}) {
    files.add_file("/store/size", text);
    CHECK_FALSE(recorded_size("/store", files));
  }
  files.add_file("/store/size", "=100\n+5\n");
  CHECK(recorded_size("/store", files) == 105);
}

TEST_CASE("A name that is no digest finds nothing and touches nothing outside of the cache") {
  World world;
  world.put(key("aa"), 0);
  const Path victim = world.folder / "victim";
  REQUIRE(world.files->write_file(victim, "of somebody"));
  for (const std::string& name :
       {"aa" + victim.string(), std::string("../../victim"), std::string("xx/../../../victim"),
        std::string("a"), std::string(), key("AA"), key("aa") + "0"}) {
    CHECK_FALSE(world.store.find(name));
    CHECK_FALSE(world.store.find_text(name));
    CHECK(world.store.find_records(name).empty());
  }
  CHECK(world.files->read_file(victim) == "of somebody");
  CHECK(world.store.find(key("aa")));
}
