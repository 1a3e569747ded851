#include "remote/mirror.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/digest.h"
#include "support/temp_folder.h"
#include "sys/file_system.h"

namespace dsbuild {
namespace {

constexpr int64_t k_day = 86'400;
int64_t today = 0;

// A store in memory that machines share. Slow where `delay` says so.
struct SharedFiles {
  std::mutex mutex;
  using Name = std::pair<RemoteKind, std::string>;
  std::map<Name, std::string> files;
  std::map<Name, int64_t> days;  // on which they were written
  std::vector<Name> written;     // in that order
  std::atomic<int> gets = 0;
  std::atomic<int> puts = 0, refused_puts = 0;  // so many that follow fail
  std::chrono::milliseconds delay{0};
};

class MemoryStore : public RemoteStore {
 public:
  explicit MemoryStore(SharedFiles& shared) : shared_(shared) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    std::this_thread::sleep_for(shared_.delay);
    const std::lock_guard lock(shared_.mutex);
    shared_.gets += static_cast<int>(names.size());
    std::vector<RemoteAnswer> answers;
    for (const RemoteName& name : names) {
      const auto found = shared_.files.find({name.kind, name.digest});
      const bool is_there = found != shared_.files.end();
      answers.push_back({is_there ? RemoteAnswer::State::done : RemoteAnswer::State::absent,
                         is_there ? found->second : ""});
    }
    return answers;
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override {
    const std::lock_guard lock(shared_.mutex);
    std::vector<RemoteAnswer> answers;
    for (const RemoteFile& file : files) {
      ++shared_.puts;
      const bool fails = shared_.refused_puts > 0;
      if (fails) --shared_.refused_puts;
      answers.push_back({fails ? RemoteAnswer::State::failed : RemoteAnswer::State::done, "", "it is down"});
      if (fails) continue;
      const SharedFiles::Name name{file.name.kind, file.name.digest};
      shared_.files[name] = file.bytes;
      shared_.days[name] = today / k_day;
      shared_.written.push_back(name);
    }
    return answers;
  }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override { return get(names); }
  void cancel() override {}

 private:
  SharedFiles& shared_;
};

// On a real disk: the uploader's thread and the test use it at the same time.
struct SharingMachine {
  explicit SharingMachine(SharedFiles& shared, MirrorOptions options = {.uploads = true})
      : mirror(std::make_unique<MemoryStore>(shared), *files, folder.path(), std::move(options)),
        cache(*files, folder.path()) {}

  std::string put_result(const std::string& name, const std::string& bytes) {
    std::string key = sha256("result " + name);
    cache.put(key, {{name, bytes}});
    mirror.added(UpstreamKind::result, key);
    return key;
  }
  // Of the action with this name, which reads one file and makes another.
  void put_record(const std::string& name, const FileDigest& input, const FileDigest& output,
                  const std::string& result) {
    Record record;
    record.key = Key().add("command", name);
    record.result = {result, ""};
    record.inputs = {input};
    record.outputs = {output};
    cache.put_record(record.key.digest(), render_record(record));
    mirror.added(UpstreamKind::records, record.key.digest());
  }

  TempFolder folder;
  std::unique_ptr<FileSystem> files = make_real_file_system();
  RemoteMirror mirror;
  TieredCache cache;
};

// What a plan knows: the digests of files that are here, and of those that records say will be.
struct KnownFiles {
  std::map<std::string, std::string> digests;

  Foreseen action(const std::string& name) {
    return {Key().add("command", name).digest(), [this](const Record& record) {
              for (const FileDigest& input : record.inputs)
                if (digests[input.path] != input.digest) return false;
              for (const FileDigest& output : record.outputs)
                digests[output.path] = output.digest;
              return true;
            }};
  }
};

}  // namespace

TEST_CASE("a plan's whole chain is fetched before anything runs: what a link reads is known by records") {
  SharedFiles shared;
  {
    SharingMachine machine(shared);
    const std::string object = machine.put_result("a.o", "object"),
                      library = machine.put_result("a.so", "library");
    machine.put_record("compile", {"a.cpp", "1"}, {"a.o", "2"}, object);
    machine.put_record("link", {"a.o", "2"}, {"a.so", "3"}, library);
    machine.mirror.finish(10);
  }
  SharingMachine other(shared);
  KnownFiles known{{{"a.cpp", "1"}}};
  // In an order that is none of the graph's.
  other.mirror.prefetch({known.action("link"), known.action("compile")});
  CHECK(other.cache.find(sha256("result a.o")));
  CHECK(other.cache.find(sha256("result a.so")));
  CHECK(other.mirror.uses().counts.hits == 2);
  CHECK(other.mirror.uses().counts.misses == 0);

  const int before = shared.gets;
  CHECK_FALSE(other.mirror.fetch(UpstreamKind::records, Key().add("command", "link").digest()));
  CHECK(shared.gets == before);  // nobody asks again
}

TEST_CASE("a source that differs is no hit, nor what would be made of it") {
  SharedFiles shared;
  {
    SharingMachine machine(shared);
    machine.put_record("compile", {"a.cpp", "1"}, {"a.o", "2"}, machine.put_result("a.o", "object"));
    machine.put_record("link", {"a.o", "2"}, {"a.so", "3"}, machine.put_result("a.so", "library"));
    machine.mirror.finish(10);
  }
  SharingMachine other(shared);
  KnownFiles known{{{"a.cpp", "another"}}};
  other.mirror.prefetch({known.action("compile"), known.action("link")});
  CHECK_FALSE(other.cache.find(sha256("result a.o")));
  CHECK_FALSE(other.cache.find(sha256("result a.so")));
}

TEST_CASE("who asks for what is on its way waits for it, and there is one request") {
  SharedFiles shared;
  std::string key;
  {
    SharingMachine machine(shared);
    key = machine.put_result("a.o", "object");
    machine.mirror.finish(10);
  }
  SharingMachine other(shared);
  shared.delay = std::chrono::milliseconds(50);
  const int before = shared.gets;
  std::atomic<int> found = 0;
  {
    std::vector<std::jthread> steps;
    for (int i = 0; i < 8; ++i)
      steps.emplace_back([&] { found += other.mirror.fetch(UpstreamKind::result, key) ? 1 : 0; });
  }
  CHECK(found == 8);
  CHECK(shared.gets == before + 1);  // the file is in the entry
}

TEST_CASE("a build goes on without a store that is slow, and says so") {
  SharedFiles shared;
  MirrorOptions options;
  options.most_seconds_slow = 0.1;
  SharingMachine machine(shared, options);
  shared.delay = std::chrono::milliseconds(150);
  KnownFiles known;
  std::vector<Foreseen> actions;
  for (int i = 0; i < 500; ++i)
    actions.push_back(known.action(std::to_string(i)));
  machine.mirror.prefetch(actions);
  CHECK(machine.mirror.uses().off.find("it is slow: 0 B in ") == 0);
  CHECK(shared.gets == 32);
  CHECK_FALSE(machine.mirror.fetch(UpstreamKind::result, sha256("x")));
  CHECK(shared.gets == 32);
}

TEST_CASE("a quick store is asked for more and more at once") {
  SharedFiles shared;
  SharingMachine machine(shared);
  KnownFiles known;
  std::vector<Foreseen> actions;
  for (int i = 0; i < 500; ++i)
    actions.push_back(known.action(std::to_string(i)));
  machine.mirror.prefetch(actions);
  CHECK(machine.mirror.uses().off.empty());
  CHECK(shared.gets == 500);
}

TEST_CASE("two machines' records of one action are both there") {
  SharedFiles shared;
  const std::string key = Key().add("command", "compile").digest();
  for (const char* source : {"1", "2"}) {
    SharingMachine machine(shared);
    machine.put_record("compile", {"a.cpp", source}, {"a.o", source}, machine.put_result(source, source));
    machine.mirror.finish(10);
  }
  SharingMachine other(shared);
  CHECK(other.mirror.fetch(UpstreamKind::records, key));
  CHECK(other.cache.find_records(key).size() == 2);
}

namespace {

// Of a machine that lives on a day; the store removes what is ten days old.
MirrorOptions on_day(int64_t day, int64_t ttl_days = 10) {
  today = day * k_day;
  return {.uploads = true, .ttl_seconds = ttl_days * k_day, .clock = [] { return today; }};
}

// Large, and of no pattern, so that it is a file of its own.
std::string large_text(const std::string& seed) {
  std::string text;
  while (text.size() < 20'000)
    text += sha256(seed + std::to_string(text.size()));
  return text;
}

// One machine on day 1 puts it there, the next takes it on `day`. Whether a third finds it once the store
// has removed what is ten days old on day 12.
bool lives_on(int64_t day, int64_t ttl_days) {
  SharedFiles shared;
  std::string result;
  {
    SharingMachine machine(shared, on_day(1, ttl_days));
    result = machine.put_result("a.o", large_text("a"));
    machine.put_record("compile", {"a.cpp", "1"}, {"a.o", "2"}, result);
    machine.mirror.finish(10);
  }
  {
    SharingMachine user(shared, on_day(day, ttl_days));
    KnownFiles known{{{"a.cpp", "1"}}};
    user.mirror.prefetch({known.action("compile")});
    user.mirror.finish(10);
    CHECK(user.mirror.uses().counts.hits == 1);
  }
  std::erase_if(shared.files, [&](const auto& file) { return shared.days[file.first] < 12 - 10; });
  SharingMachine third(shared, on_day(12, ttl_days));
  KnownFiles known{{{"a.cpp", "1"}}};
  third.mirror.prefetch({known.action("compile")});
  return third.cache.find(result).has_value();
}

}  // namespace

TEST_CASE("what is used is written again once it is older than half of the time after which it is removed") {
  CHECK(lives_on(7, 10));
  CHECK_FALSE(lives_on(5, 10));  // it was not old
  CHECK_FALSE(lives_on(7, 0));
}

TEST_CASE("what is written again is what was there, files before the entry, and once") {
  SharedFiles shared;
  {
    SharingMachine machine(shared, on_day(1));
    machine.put_result("a.o", large_text("a"));
    machine.put_result("b.o", large_text("a"));  // the same file
    machine.mirror.finish(10);
  }
  const auto before = shared.files;
  shared.written.clear();
  for (int i = 0; i < 2; ++i) {
    SharingMachine user(shared, on_day(7));
    CHECK(user.mirror.fetch(UpstreamKind::result, sha256("result a.o")));
    CHECK(user.mirror.fetch(UpstreamKind::result, sha256("result b.o")));
    user.mirror.finish(10);
    CHECK(user.mirror.uses().counts.renewals == (i == 0 ? 2 : 0));
  }
  REQUIRE(shared.written.size() == 3);
  CHECK(shared.written[0].first == RemoteKind::cas);
  CHECK(shared.files.size() == before.size());
  CHECK(shared.files.at(shared.written[0]) == before.at(shared.written[0]));
}

TEST_CASE("a damaged file is not written again, nor an entry that has lost one") {
  SharedFiles shared;
  {
    SharingMachine machine(shared, on_day(1));
    machine.put_result("a.o", large_text("a"));
    machine.put_result("b.o", large_text("b"));
    machine.mirror.finish(10);
  }
  SharingMachine user(shared, on_day(7));
  CHECK(user.mirror.fetch(UpstreamKind::result, sha256("result b.o")));
  user.mirror.finish(10);
  CHECK(user.mirror.uses().counts.renewals == 1);
  for (auto& [name, bytes] : shared.files)
    if (name.first == RemoteKind::cas) bytes[0] ^= 1;
  shared.written.clear();
  SharingMachine other(shared, on_day(20));
  CHECK_FALSE(other.mirror.fetch(UpstreamKind::result, sha256("result a.o")));
  other.mirror.finish(10);
  CHECK(shared.written.empty());
}

TEST_CASE("what must go there is tried again, also where the build went on without the shared cache") {
  SharedFiles shared;
  shared.refused_puts = 5;
  SharingMachine machine(shared, {.uploads = true, .pauses = {0.1, 0.1, 0.1}});
  const std::string result = machine.put_result("a.o", "object");
  machine.put_record("compile", {"a.cpp", "1"}, {"a.o", "2"}, result);
  CHECK(machine.mirror.send_all([] { return true; }));
  CHECK(machine.mirror.uses().unsent == 0);
  CHECK(machine.mirror.uses().off.empty());
  machine.mirror.finish(0);
  SharingMachine other(shared);
  CHECK(other.mirror.fetch(UpstreamKind::result, result));
}

TEST_CASE("what did not get there is counted; who is told to stop does not wait") {
  SharedFiles shared;
  shared.refused_puts = 1'000'000;
  SharingMachine machine(shared);
  (void)machine.put_result("a.o", "object");
  (void)machine.put_result("b.o", "other");
  CHECK_FALSE(machine.mirror.send_all([] { return false; }));
  CHECK(machine.mirror.uses().unsent == 2);
}

TEST_CASE("what is offered goes up where it is not there; what came from there does not go back") {
  SharedFiles shared;
  const MirrorOptions offers{.scope = "", .uploads = true, .offers = true};
  std::string there;
  {
    SharingMachine first(shared);
    there = first.put_result("there", "1");
    (void)first.put_result("fetched", "2");
    first.mirror.finish(10);
  }
  SharingMachine machine(shared, offers);
  machine.cache.put(there, {{"there", "1"}});
  const std::string own = sha256("result own"), fetched = sha256("result fetched");
  machine.cache.put(own, {{"own", "3"}});
  CHECK(machine.mirror.fetch(UpstreamKind::result, fetched));
  shared.puts = 0;
  for (const std::string& key : {there, own, fetched})
    machine.mirror.found(UpstreamKind::result, key);
  CHECK(machine.mirror.send_all([] { return true; }));
  CHECK(machine.mirror.pushed() == std::vector<UpstreamItem>{{UpstreamKind::result, own}});
  CHECK(shared.puts == 1);  // its entry, which has the file
}

}  // namespace dsbuild
