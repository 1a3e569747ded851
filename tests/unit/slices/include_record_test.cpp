#include "slices/include_record.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

using Words = std::vector<std::string>;

// Of a step that begins long after all files were written.
constexpr int64_t k_begin = int64_t{1} << 62;

// pack/a.cu includes <sub/x.h>, which is found in the second of two folders, and <vector>.
struct Project {
  FakeFileSystem files;
  Words command = {"g++", "-I",       "pack/first", "-Ipack/second", "-isystem", "/usr/include/c++",
                   "-E",  "pack/a.cu"};
  Words read = {"pack/a.cu", "pack/second/sub/x.h", "/usr/include/c++/vector"};

  Project() {
    files.add_file("pack/a.cu", "source");
    files.add_file("pack/first/y.h", "other");
    files.add_file("pack/second/sub/x.h", "header");
    files.add_file("/usr/include/c++/vector", "standard");
  }
  std::string record() const { return render_include_record({"key", read}, command, k_begin, files); }
};

}  // namespace

TEST_CASE("includes: files of a depfile, without its target") {
  for (const char* name : {"a b", "a#b", "$a", "a\\b", "a:b"})
    CHECK(files_in_depfile(render_depfile("x.o", {name})) == Words{name});
  CHECK(files_in_depfile("x.o: a.cu \\\n  b\\ c.h $$d.h\n") == Words{"a.cu", "b c.h", "$d.h"});
}

TEST_CASE("includes: what was read is known while all is as it was") {
  Project project;
  const auto record = read_include_record(project.record(), project.files);
  REQUIRE(record);
  CHECK(record->result == "key");
  CHECK(record->files == project.read);
}

TEST_CASE("includes: another content, a lost file and a file that may come first are seen") {
  const std::vector<std::function<void(FakeFileSystem&)>> changes = {
      [](FakeFileSystem& files) { files.add_file("pack/a.cu", "SOURCE"); },
      [](FakeFileSystem& files) { files.add_file("pack/second/sub/x.h", "HEADER"); },
      [](FakeFileSystem& files) { (void)files.remove_all("pack/second/sub/x.h"); },
      [](FakeFileSystem& files) { files.add_file("pack/first/sub/x.h", "header"); },
      [](FakeFileSystem& files) { files.add_file("pack/sub/x.h", "header"); },
      [](FakeFileSystem& files) { files.add_file("pack/vector", "header"); },
      [](FakeFileSystem& files) { files.add_file("/usr/include/c++/vector", "standard library"); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    Project project;
    const std::string text = project.record();
    changes[i](project.files);
    CHECK_FALSE(read_include_record(text, project.files));
  }
}

TEST_CASE("includes: a comment counts as all else in a file") {
  Project project;
  const std::string text = project.record();
  project.files.add_file("pack/a.cu", "source // so");
  CHECK_FALSE(read_include_record(text, project.files));
}

TEST_CASE("includes: what changed since the step began is not known, but for what the build wrote itself") {
  const auto is_known_after_change_of = [](const std::string& path) {
    Project project;
    project.files.add_file("pch/torch.h", "of the plan");
    project.files.add_file("pack/second/sub/other/y.h", "header");
    project.read.push_back("pch/torch.h");
    REQUIRE(project.files.set_mtime(path, k_begin));
    return !project.record().empty();
  };
  CHECK(is_known_after_change_of("pch/torch.h"));
  CHECK(is_known_after_change_of("pch"));
  CHECK_FALSE(is_known_after_change_of("pack/a.cu"));
  CHECK_FALSE(is_known_after_change_of("/usr/include/c++/vector"));
  // Of a folder: a name came, which may stand before one that was read.
  CHECK_FALSE(is_known_after_change_of("pack/first"));
  CHECK_FALSE(is_known_after_change_of("pack/second/sub/other"));
  CHECK_FALSE(is_known_after_change_of("/usr/include/c++"));
}

TEST_CASE("includes: what the assembler reads is named nowhere, so nothing is known") {
  Project project;
  for (const char* header : {"asm(\".incbin \\\"data.bin\\\"\");", "asm(\".include \\\"x.s\\\"\");"}) {
    project.files.add_file("pack/second/sub/x.h", header);
    CHECK(project.record().empty());
  }
}

TEST_CASE("includes: nvcc's depfiles have a blank before the colon") {
  CHECK(files_in_depfile("x.o : pack/a.cu \\\n pack/b.h\n") == Words{"pack/a.cu", "pack/b.h"});
}
