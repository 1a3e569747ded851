#include "sys/file_system.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <thread>

#include "temporary_folder.h"

using namespace dsbuild;
using Names = std::vector<std::string>;

namespace {

struct World {
  TemporaryFolder folder;
  std::unique_ptr<FileSystem> files = make_real_file_system();

  Path path(const std::string& name) const { return folder / name; }
  void write(const std::string& name, const std::string& bytes) {
    REQUIRE(files->write_file(path(name), bytes));
  }
  std::string read(const std::string& name) const { return files->read_file(path(name)).value(); }
  Names names() const { return files->list(folder.path()).value(); }
};

unsigned mode_of(const Path& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// While it lives, no file of this process may grow beyond `bytes`: writing fails in the middle, as on
// a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

}  // namespace

TEST_CASE("A file is read back byte for byte") {
  World world;
  const std::string bytes = std::string("a\0b\n\xff", 5) + std::string(300000, 'x');
  world.write("file", bytes);
  CHECK(world.read("file") == bytes);
}

// /proc/sys: the kernel gives a number to the first read alone, however little that asks for.
TEST_CASE("A file that says no size is read at once") {
  const Path path = "/proc/sys/kernel/pid_max";
  std::string line;
  REQUIRE(std::getline(std::ifstream(path), line));
  CHECK(World().files->read_file(path).value() == line + "\n");
}

TEST_CASE("A written file is readable to all, whatever the umask, and leaves no temporary") {
  World world;
  const Umask strict(077);
  world.write("file", "x");
  CHECK(mode_of(world.path("file")) == 0644);
  CHECK(world.names() == Names{"file"});
}

TEST_CASE("A write that fails in the middle leaves the old file whole and no temporary") {
  World world;
  world.write("file", "old");
  {
    const FileSizeLimit limit(4096);
    const auto written = world.files->write_file(world.path("file"), std::string(8192, 'x'), true);
    REQUIRE_FALSE(written);
    CHECK(written.error().exit == Exit::failed);
    CHECK(written.error().code == "io");
    CHECK(written.error().where == world.path("file").string());
    CHECK(written.error().what == "writing: File too large");
  }
  CHECK(world.read("file") == "old");
  CHECK(world.names() == Names{"file"});
}

TEST_CASE("Writing into a folder that is not there names the path") {
  World world;
  const auto written = world.files->write_file(world.path("no/file"), "x");
  REQUIRE_FALSE(written);
  CHECK(written.error().where == world.path("no/file").string());
  CHECK(written.error().what == "writing: No such file or directory");
}

TEST_CASE("Writing over a folder fails and leaves it") {
  World world;
  REQUIRE(world.files->make_directories(world.path("folder/inner")));
  CHECK_FALSE(world.files->write_file(world.path("folder"), "x"));
  CHECK(world.files->kind(world.path("folder/inner")) == FileKind::directory);
  CHECK(world.names() == Names{"folder"});
}

TEST_CASE("Writing replaces a symbolic link, never what it points at") {
  World world;
  world.write("target", "kept");
  REQUIRE(world.files->make_symlink("target", world.path("link")));
  world.write("link", "new");
  CHECK(world.read("target") == "kept");
  CHECK(world.read("link") == "new");
}

TEST_CASE("A file name of 255 bytes can be written") {
  World world;
  const std::string name(255, 'n');
  world.write(name, "x");
  CHECK(world.read(name) == "x");
}

TEST_CASE("A file that holds these bytes already is not written again") {
  World world;
  CHECK(world.files->write_if_different(world.path("file"), "x").value());
  const auto before = world.files->identity(world.path("file"));
  CHECK_FALSE(world.files->write_if_different(world.path("file"), "x").value());
  CHECK(world.files->identity(world.path("file")) == before);
  CHECK(world.files->write_if_different(world.path("file"), "y").value());
  CHECK(world.read("file") == "y");
}

TEST_CASE("The identity changes with the content even when size and mtime are put back") {
  World world;
  world.write("file", "old");
  const auto before = world.files->identity(world.path("file")).value();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  FILE* const file = std::fopen(world.path("file").c_str(), "r+");
  REQUIRE(file != nullptr);
  std::fputs("new", file);
  std::fclose(file);
  const timespec times[2] = {{before.mtime_ns / 1'000'000'000, before.mtime_ns % 1'000'000'000},
                             {before.mtime_ns / 1'000'000'000, before.mtime_ns % 1'000'000'000}};
  REQUIRE(::utimensat(AT_FDCWD, world.path("file").c_str(), times, 0) == 0);
  const auto after = world.files->identity(world.path("file")).value();
  CHECK(after.mtime_ns == before.mtime_ns);
  CHECK(after.size == before.size);
  CHECK(after.text() != before.text());
  CHECK_FALSE(world.files->identity(world.path("absent")));
}

TEST_CASE("A folder is listed in the order of bytes") {
  World world;
  for (const std::string name : {"b", "a", "B", ".hidden", "\xc3\xa9"})
    world.write(name, "");
  CHECK(world.names() == Names{".hidden", "B", "a", "b", "\xc3\xa9"});
  CHECK_FALSE(world.files->list(world.path("absent")));
  CHECK_FALSE(world.files->list(world.path("a")));
}

TEST_CASE("Reading what is not a file fails at once") {
  World world;
  CHECK(world.files->read_file(world.path("absent")).error().what == "reading: No such file or directory");
  CHECK(world.files->read_file(world.folder.path()).error().what == "reading: Is a directory");
  REQUIRE(::mkfifo(world.path("pipe").c_str(), 0600) == 0);
  CHECK(world.files->read_file(world.path("pipe")).error().what == "reading: not a regular file");
  CHECK_FALSE(world.files->copy_file(world.path("pipe"), world.path("copy"), false));
}

TEST_CASE("Kinds follow symbolic links") {
  World world;
  world.write("file", "");
  REQUIRE(world.files->make_symlink("file", world.path("link")));
  REQUIRE(world.files->make_symlink("nowhere", world.path("broken")));
  CHECK(world.files->kind(world.path("file")) == FileKind::file);
  CHECK(world.files->kind(world.path("link")) == FileKind::file);
  CHECK(world.files->kind(world.path("broken")) == FileKind::absent);
  CHECK(world.files->kind(world.folder.path()) == FileKind::directory);
  CHECK(world.files->kind("/dev/null") == FileKind::other);
  CHECK(world.files->real_path(world.path("link")) == world.files->real_path(world.path("file")));
  CHECK_FALSE(world.files->real_path(world.path("broken")));
}

TEST_CASE("absolute works on the text alone") {
  const auto files = make_real_file_system();
  CHECK(files->absolute("/a/./b/../c/") == Path("/a/c"));
  CHECK(files->absolute("x") == std::filesystem::current_path() / "x");
}

TEST_CASE("Folders are made with their parents, mode 0755, and may be there already") {
  World world;
  const Umask strict(077);
  REQUIRE(world.files->make_directories(world.path("a/b/c/")));
  REQUIRE(world.files->make_directories(world.path("a/b/c")));
  CHECK(mode_of(world.path("a/b")) == 0755);
  world.write("file", "");
  const auto below_file = world.files->make_directories(world.path("file/x"));
  REQUIRE_FALSE(below_file);
  CHECK(below_file.error().where == world.path("file").string());
}

TEST_CASE("A copy has the bytes and the mode asked for") {
  World world;
  const std::string bytes(3'000'001, 'x');
  world.write("from", bytes);
  const Umask strict(077);
  REQUIRE(world.files->copy_file(world.path("from"), world.path("to"), true));
  CHECK(world.read("to") == bytes);
  CHECK(mode_of(world.path("to")) == 0755);
  REQUIRE(world.files->copy_file(world.path("from"), world.path("to"), false));
  CHECK(mode_of(world.path("to")) == 0644);
  CHECK(world.files->is_executable(world.path("to")) == false);
}

TEST_CASE("A file that says it is empty is copied all the same") {
  World world;
  REQUIRE(world.files->copy_file("/proc/self/cmdline", world.path("copy"), false));
  CHECK_FALSE(world.read("copy").empty());
}

TEST_CASE("A copy that fails in the middle leaves the old file whole") {
  World world;
  world.write("from", std::string(8192, 'x'));
  world.write("to", "old");
  {
    const FileSizeLimit limit(4096);
    CHECK_FALSE(world.files->copy_file(world.path("from"), world.path("to"), false));
  }
  CHECK(world.read("to") == "old");
  CHECK(world.names() == Names{"from", "to"});
}

TEST_CASE("A symbolic link replaces a link, but nothing else") {
  World world;
  world.write("file", "kept");
  REQUIRE(world.files->make_symlink("one", world.path("link")));
  REQUIRE(world.files->make_symlink("two", world.path("link")));
  CHECK(std::filesystem::read_symlink(world.path("link")) == "two");
  CHECK_FALSE(world.files->make_symlink("two", world.path("file")));
  CHECK(world.read("file") == "kept");
}

TEST_CASE("Two folders are exchanged in one step") {
  World world;
  REQUIRE(world.files->make_directories(world.path("a")));
  REQUIRE(world.files->make_directories(world.path("b")));
  world.write("a/file", "from a");
  const auto exchanged = world.files->exchange(world.path("a"), world.path("b"));
  if (!exchanged && exchanged.error().code == "cannot_exchange") return;  // the file system has no such step
  REQUIRE(exchanged);
  CHECK(world.read("b/file") == "from a");
  CHECK(world.files->list(world.path("a")).value().empty());
}

TEST_CASE("An exchange with nothing is an error and not a missing ability") {
  World world;
  REQUIRE(world.files->make_directories(world.path("a")));
  CHECK(world.files->exchange(world.path("a"), world.path("absent")).error().code == "io");
}

TEST_CASE("An exchange across file systems says that it cannot be") {
  World world;
  REQUIRE(world.files->make_directories(world.path("a")));
  CHECK(world.files->exchange(world.path("a"), "/proc/self").error().code == "cannot_exchange");
}

TEST_CASE("remove_all removes a whole folder and follows no link") {
  World world;
  REQUIRE(world.files->make_directories(world.path("kept")));
  world.write("kept/file", "kept");
  REQUIRE(world.files->make_directories(world.path("tree/inner")));
  world.write("tree/inner/file", "x");
  REQUIRE(world.files->make_symlink(world.path("kept"), world.path("tree/link")));
  REQUIRE(world.files->remove_all(world.path("tree")));
  CHECK(world.names() == Names{"kept"});

  REQUIRE(world.files->make_symlink(world.path("kept"), world.path("link")));
  REQUIRE(world.files->remove_all(world.path("link/")));
  CHECK(world.names() == Names{"kept"});
  CHECK(world.read("kept/file") == "kept");
}

TEST_CASE("remove_all removes a folder in which somebody makes files meanwhile") {
  World world;
  REQUIRE(world.files->make_directories(world.path("tree/inner")));
  std::thread maker([&] {
    const auto mine = make_real_file_system();
    for (int i = 0; i < 1000 && mine->append(world.path("tree/inner/" + std::to_string(i)), "x"); ++i)
      std::this_thread::yield();
  });
  const auto removed = world.files->remove_all(world.path("tree"));
  maker.join();
  CHECK(removed);
  CHECK(world.names().empty());
}

TEST_CASE("remove_all has nothing against what is not there, and refuses the root") {
  World world;
  CHECK(world.files->remove_all(world.path("absent")));
  CHECK_FALSE(world.files->remove_all("/"));
  CHECK_FALSE(world.files->remove_all(""));
}

TEST_CASE("A folder can be brought to the disk") {
  World world;
  CHECK(world.files->sync_directory(world.folder.path()));
  CHECK_FALSE(world.files->sync_directory(world.path("absent")));
}

TEST_CASE("own_kind does not follow a link, and the others do") {
  World world;
  world.write("file", "x");
  REQUIRE(world.files->make_symlink("file", world.path("link")));
  CHECK(world.files->own_kind(world.path("file")) == FileKind::file);
  CHECK(world.files->own_kind(world.folder.path()) == FileKind::directory);
  CHECK(world.files->own_kind(world.path("link")) == FileKind::other);
  CHECK(world.files->kind(world.path("link")) == FileKind::file);
  CHECK(world.files->own_kind(world.path("none")) == FileKind::absent);
}

TEST_CASE("set_mtime changes a file's time and nothing behind a link") {
  World world;
  world.write("file", "x");
  const int64_t before = world.files->identity(world.path("file"))->mtime_ns;
  REQUIRE(world.files->make_symlink("file", world.path("link")));
  REQUIRE(world.files->set_mtime(world.path("link"), 1'000'000'007));
  CHECK(world.files->identity(world.path("file"))->mtime_ns == before);
  REQUIRE(world.files->set_mtime(world.path("file"), 1'000'000'007));
  CHECK(world.files->identity(world.path("file"))->mtime_ns == 1'000'000'007);
  CHECK(world.read("file") == "x");
  CHECK(world.files->set_mtime(world.path("none"), 0).error().code == "io");
}

TEST_CASE("append makes the file, adds to it, and follows no link") {
  World world;
  REQUIRE(world.files->append(world.path("log"), "one\n"));
  REQUIRE(world.files->append(world.path("log"), "two\n"));
  CHECK(world.read("log") == "one\ntwo\n");
  REQUIRE(world.files->make_symlink("log", world.path("link")));
  CHECK_FALSE(world.files->append(world.path("link"), "three\n"));
  CHECK(world.read("log") == "one\ntwo\n");
}

TEST_CASE("what several threads append does not mix") {
  World world;
  const auto append_lines = [&](char letter) {
    for (int i = 0; i < 200; ++i)
      (void)world.files->append(world.path("log"), std::string(40, letter) + "\n");
  };
  std::thread other([&] { append_lines('b'); });
  append_lines('a');
  other.join();
  const auto lines = split_lines(world.read("log"));
  CHECK(lines.size() == 400);
  for (const std::string& line : lines)
    CHECK((line == std::string(40, 'a') || line == std::string(40, 'b')));
}

TEST_CASE("a temporary of our own is known by its name") {
  CHECK(is_own_temporary(".123.dsbuild-tmp"));
  CHECK_FALSE(is_own_temporary(".dsbuild-tmp"));
  CHECK_FALSE(is_own_temporary("notes"));
}
