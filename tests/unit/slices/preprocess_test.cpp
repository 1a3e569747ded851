#include "slices/preprocess.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "support/test_data.h"

using namespace dsbuild;

namespace {

// What nvcc of that version prints for two virtual archs and -DNAME="a b"; its folder is /cuda.
std::string dryrun(const std::string& version) {
  return test_data("unit/slices/data/dryrun-" + version + ".txt");
}

struct PreprocessWorld {
  FakeFileSystem files;
  FakeProcessRunner processes;
  System system{files, processes, {}, {}};

  // The compiler prints what `text_of` says, and writes a depfile.
  void compiler(const std::function<std::string(const Command&)>& text_of) {
    processes.on({"g++"}, [this, text_of](const Command& command) {
      const auto depfile = std::find(command.argv.begin(), command.argv.end(), "-MF");
      REQUIRE(depfile != command.argv.end());
      files.add_file(*(depfile + 1), "k.o: k.cu k.h\n");
      return FakeProcessRunner::succeeded(text_of(command));
    });
  }
  std::optional<std::string> compare(CompilerKind kind, const CompileCommand& ours,
                                     const CompileCommand& theirs) {
    return depfile_if_same_texts(kind, ours, theirs, "k.o", "obj/k.o", system);
  }
};

bool has(const Command& command, const std::string& word) {
  return std::find(command.argv.begin(), command.argv.end(), word) != command.argv.end();
}

const CompileCommand k_ours = {"g++", "-DA", "-MD", "-MF", "k.o.d", "-MT", "k.o", "-c", "k.cpp", "-o", "k.o"};
const CompileCommand k_theirs = {"g++", "-DB", "-c", "k.cpp"};

}  // namespace

TEST_CASE("a C++ command is preprocessed once each, and writes nothing but the depfile that is asked for") {
  PreprocessWorld world;
  world.compiler([](const Command&) { return "text"; });
  CHECK(world.compare(CompilerKind::cxx, k_ours, k_theirs) == "k.o: k.cu k.h\n");
  REQUIRE(world.processes.started.size() == 2);
  CHECK(world.processes.started[0].argv == std::vector<std::string>{"g++", "-DA", "-E", "k.cpp", "-C", "-MD",
                                                                    "-MF", "obj/k.o.pass.d", "-MT", "k.o"});
  CHECK(world.files.kind("obj/k.o.pass.d") == FileKind::absent);
}

TEST_CASE("texts that differ, and a preprocessor that fails, are not the same") {
  PreprocessWorld world;
  world.compiler([](const Command& command) { return has(command, "-DA") ? "one" : "two"; });
  CHECK_FALSE(world.compare(CompilerKind::cxx, k_ours, k_theirs));
  world.processes.on({"g++", "-DB"}, FakeProcessRunner::failed("k.cpp:1:2: error: no"));
  CHECK_FALSE(world.compare(CompilerKind::cxx, k_ours, k_theirs));
}

TEST_CASE("a text that may have been cut off is compared with nothing") {
  PreprocessWorld world;
  world.compiler([](const Command&) { return std::string(64 << 20, ' '); });
  CHECK_FALSE(world.compare(CompilerKind::cxx, k_ours, k_theirs));
}

TEST_CASE("a header that both include by force may have another name in each") {
  PreprocessWorld world;
  CompileCommand ours = k_ours, theirs = k_theirs;
  ours.insert(ours.end(), {"-include", "pch/1/torch.h"});
  theirs.insert(theirs.end(), {"-include", "pch/2/torch.h"});
  world.compiler([](const Command& command) {
    return "# 1 \"./pch/" + std::string(has(command, "pch/1/torch.h") ? "1" : "2") + "/torch.h\"\nint x;\n";
  });
  CHECK(world.compare(CompilerKind::cxx, ours, theirs));
  CHECK_FALSE(world.compare(CompilerKind::cxx, ours, k_theirs));
}

TEST_CASE("nvcc's passes are each virtual arch's and the host's, as its dry run names them") {
  for (const char* version : {"11.8", "13.0"}) {
    CAPTURE(version);
    PreprocessWorld world;
    world.processes.on({"nvcc", "--dryrun"}, FakeProcessRunner::succeeded("", dryrun(version)));
    world.compiler([](const Command&) { return "text"; });
    const CompileCommand nvcc = {"nvcc",
                                 "-gencode=arch=compute_80,code=sm_80",
                                 "--threads=2",
                                 "-gencode=arch=compute_90,code=sm_90",
                                 "-gencode=arch=compute_90,code=compute_90",
                                 "-c",
                                 "k.cu",
                                 "-o",
                                 "k.o"};
    CHECK(world.compare(CompilerKind::nvcc, nvcc, nvcc) == "k.o: k.cu k.h\nk.o: k.cu k.h\nk.o: k.cu k.h\n");
    CHECK_FALSE(has(world.processes.started.front(), "--threads=2"));
    std::multiset<std::string> archs;
    for (const Command& command : world.processes.started) {
      if (command.argv[0] != "/usr/bin/g++") continue;
      CHECK(has(command, "NAME=\"a b\""));
      CHECK(has(command, "-E"));
      CHECK_FALSE(has(command, "-o"));
      archs.insert(has(command, "-D__CUDA_ARCH__=800")   ? "800"
                   : has(command, "-D__CUDA_ARCH__=900") ? "900"
                                                         : "host");
    }
    CHECK(archs == std::multiset<std::string>{"800", "800", "900", "900", "host", "host"});
  }
}

TEST_CASE("a difference in the text of one arch alone is a difference") {
  PreprocessWorld world;
  world.processes.on({"nvcc", "--dryrun"}, FakeProcessRunner::succeeded("", dryrun("13.0")));
  int passes_of_90 = 0;
  world.compiler([&](const Command& command) {
    return has(command, "-D__CUDA_ARCH__=900") ? std::to_string(++passes_of_90) : "text";
  });
  const CompileCommand ours = {"nvcc", "-gencode=arch=compute_80,code=sm_80",
                               "-gencode=arch=compute_90,code=sm_90", "-c", "k.cu"};
  CompileCommand theirs = ours;
  theirs.emplace_back("-DB");
  CHECK_FALSE(world.compare(CompilerKind::nvcc, ours, theirs));
  CHECK(passes_of_90 == 2);
}

TEST_CASE("a dry run that names fewer passes than there are archs proves nothing") {
  PreprocessWorld world;
  world.processes.on({"nvcc", "--dryrun"}, FakeProcessRunner::succeeded("", dryrun("13.0")));
  world.compiler([](const Command&) { return "text"; });
  const CompileCommand three = {"nvcc",
                                "-gencode=arch=compute_75,code=sm_75",
                                "-gencode=arch=compute_80,code=sm_80",
                                "-gencode=arch=compute_90,code=sm_90",
                                "-c",
                                "k.cu"};
  CHECK_FALSE(world.compare(CompilerKind::nvcc, three, three));
}

TEST_CASE("words of nvcc that are not understood prove nothing") {
  PreprocessWorld world;
  world.processes.on({"nvcc", "--dryrun"}, FakeProcessRunner::succeeded("", "#$ something --new\n"));
  CHECK_FALSE(world.compare(CompilerKind::nvcc, {"nvcc", "-c", "k.cu"}, {"nvcc", "-c", "k.cu"}));
}
