// The fakes have to answer as the real ones do: the same steps on both, the same answers.
#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "temporary_folder.h"

using namespace dsbuild;

namespace {

std::string answer(const Result<void>& result) {
  return result ? "done" : result.error().what.substr(result.error().what.rfind(':') + 2);
}

std::string answer(const Result<std::string>& result) {
  return result ? *result : result.error().what.substr(result.error().what.rfind(':') + 2);
}

// What a stage could see of these steps below `top`.
std::vector<std::string> take_steps(FileSystem& files, const Path& top) {
  std::vector<std::string> seen;
  const auto see = [&](const std::string& text) { seen.push_back(text); };
  see(answer(files.write_file(top / "no/file", "x")));
  see(answer(files.make_directories(top / "a/b")));
  see(answer(files.write_file(top / "a/b/file", "bytes")));
  see(answer(files.make_directories(top / "a/b/file")));
  see(answer(files.write_file(top / "a/b/file/x", "x")));
  see(answer(files.make_symlink("b/file", top / "a/link")));
  see(answer(files.read_file(top / "a/link")));
  see(answer(files.read_file(top / "a")));
  see(answer(files.read_file(top / "absent")));
  see(answer(files.copy_file(top / "a/link", top / "copy", true)));
  see(files.is_executable(top / "copy") ? "executable" : "not executable");
  see(answer(files.rename(top / "copy", top / "moved")));
  see(answer(files.rename(top / "absent", top / "moved")));
  see(answer(files.make_directories(top / "c")));
  see(answer(files.write_file(top / "c/only", "c")));
  see(answer(files.exchange(top / "a", top / "c")));
  see(answer(files.read_file(top / "a/only")));
  see(answer(files.read_file(top / "c/link")));
  see(answer(files.exchange(top / "a", top / "absent")));
  see(join(files.list(top).value(), " "));
  see(join(files.list(top / "c").value(), " "));
  see(answer(files.remove_all(top / "c/link")));
  see(answer(files.read_file(top / "c/b/file")));
  see(answer(files.remove_all(top / "c")));
  see(answer(files.remove_all(top / "absent")));
  see(join(files.list(top).value(), " "));
  see(std::to_string(static_cast<int>(files.kind(top / "moved"))));
  see(files.real_path(top / "a/../moved").has_value() ? "real" : "not real");
  return seen;
}

Command command(std::vector<std::string> argv) {
  Command made;
  made.argv = std::move(argv);
  return made;
}

}  // namespace

TEST_CASE("The fake file system and the real one answer alike") {
  const TemporaryFolder folder;
  FakeFileSystem fake;
  fake.add_directory("/top");
  CHECK(take_steps(fake, "/top") == take_steps(*make_real_file_system(), folder.path()));
}

TEST_CASE("The fake file system logs what was read, written and removed") {
  FakeFileSystem files;
  files.add_file("in", "x");
  [[maybe_unused]] const auto read = files.read_file("in");
  REQUIRE(files.write_file("/project/out", "y"));
  REQUIRE(files.remove_all("in"));
  REQUIRE(files.remove_all("in"));
  CHECK(files.reads == std::vector<std::string>{"/project/in"});
  CHECK(files.writes == std::vector<std::string>{"/project/out"});
  CHECK(files.removals == std::vector<std::string>{"/project/in"});
}

TEST_CASE("The fake file system fails where it is told to") {
  FakeFileSystem files;
  files.add_file("/out/file", "old");
  files.fail_writes("/out", "No space left on device");
  CHECK(answer(files.write_file("/out/file", "new")) == "No space left on device");
  CHECK(files.bytes("/out/file") == "old");
  files.fail_writes("/out", "");
  CHECK(files.write_file("/out/file", "new"));
}

TEST_CASE("An identity of the fake changes when the file is written") {
  FakeFileSystem files;
  files.add_file("/f", "x");
  const auto before = files.identity("/f");
  CHECK(files.identity("/f") == before);
  files.touch("/f");
  CHECK(files.identity("/f") != before);
}

TEST_CASE("The fake runner answers by program and words, and counts") {
  FakeProcessRunner processes;
  processes.on({"nvcc", "--version"}, "V13.0.88");
  processes.on({"nvcc", "-c", "bad.cu"}, FakeProcessRunner::failed("error"));
  CHECK(processes.run(command({"/cuda/bin/nvcc", "--version"})).value().out == "V13.0.88");
  CHECK(processes.run(command({"nvcc", "-O3", "-c", "bad.cu"})).value().err == "error");
  CHECK(processes.run(command({"nvcc", "bad.cu", "-c"})).error().code == "cannot_start");
  CHECK(processes.run(command({"g++"})).error().code == "cannot_start");
  CHECK(processes.starts("nvcc") == 3);
  CHECK(processes.starts() == 4);
}
