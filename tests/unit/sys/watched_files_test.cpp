#include "sys/watched_files.h"

#include <catch2/catch.hpp>
#include <functional>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

// What a stage may ask of a small tree.
struct Watched {
  FakeFileSystem disk;
  WatchedFiles files{disk};

  Watched() {
    disk.add_file("/ops/adam/op.yaml", "name: adam");
    disk.add_file("/bin/nvcc", "#!", true);
    disk.add_link("/bin/link", "/bin/nvcc");
  }
  bool all_as_they_were() const {
    for (const auto& [asked, answer] : files.answers())
      if (answer_to(asked.second, asked.first, disk) != answer) return false;
    return true;
  }
};

struct Case {
  const char* name;
  std::function<void(const FileReader&)> ask;
  std::function<void(FakeFileSystem&)> change;
};

const std::vector<Case> k_cases = {
    {"a file's bytes", [](const FileReader& files) { (void)files.read_file("/ops/adam/op.yaml"); },
     [](FakeFileSystem& disk) { disk.add_file("/ops/adam/op.yaml", "name: lion"); }},
    {"a file that is not there", [](const FileReader& files) { (void)files.read_file("/ops/none"); },
     [](FakeFileSystem& disk) { disk.add_file("/ops/none", ""); }},
    {"an identity", [](const FileReader& files) { (void)files.identity("/bin/nvcc"); },
     [](FakeFileSystem& disk) { disk.touch("/bin/nvcc"); }},
    {"a kind", [](const FileReader& files) { (void)files.kind("/ops/adam"); },
     [](FakeFileSystem& disk) { (void)disk.remove_all("/ops/adam"); }},
    {"a kind of its own", [](const FileReader& files) { (void)files.own_kind("/bin/link"); },
     [](FakeFileSystem& disk) {
       (void)disk.remove_all("/bin/link");
       disk.add_file("/bin/link", "#!", true);
     }},
    {"whether it can be run", [](const FileReader& files) { (void)files.is_executable("/bin/nvcc"); },
     [](FakeFileSystem& disk) { disk.add_file("/bin/nvcc", "#!", false); }},
    {"where a link leads", [](const FileReader& files) { (void)files.real_path("/bin/link"); },
     [](FakeFileSystem& disk) { (void)disk.make_symlink("/ops/adam/op.yaml", "/bin/link"); }},
};

}  // namespace

TEST_CASE("watched: what was asked has the same answer until just that changes") {
  for (const Case& each : k_cases) {
    INFO(each.name);
    Watched watched;
    each.ask(watched.files);
    CHECK(watched.files.answers().size() == 1);
    watched.disk.add_file("/elsewhere/file", "");
    CHECK(watched.all_as_they_were());
    each.change(watched.disk);
    CHECK_FALSE(watched.all_as_they_were());
  }
}

TEST_CASE("watched: it answers as the disk does, and what is written is no answer") {
  Watched watched;
  CHECK(watched.files.read_file("/ops/adam/op.yaml").value() == "name: adam");
  CHECK(watched.files.list("/ops").value() == std::vector<std::string>{"adam"});
  const size_t before = watched.files.answers().size();
  CHECK(watched.files.write_file("/ops/new", "text", false));
  CHECK(watched.disk.bytes("/ops/new") == "text");
  CHECK(watched.files.answers().size() == before);
}
