// dsbuild.yaml, found from the current folder (/project of the fake disk).
#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

struct Project {
  FakeFileSystem files;
  Arguments arguments;
  Environment environment;

  Project() {
    files.current = "/home/me/code/src/deep";
    files.add_directory(files.current);
    files.add_directory("/data/ops/native");
    files.add_file("/data/configs/ci.yaml", "jobs: 3\n");
  }
  void write(const std::string& text) { files.add_file("/home/me/code/dsbuild.yaml", text); }
  Result<Settings> load() const { return load_settings(arguments, environment, files, "/data"); }
  Settings settings() const {
    const auto loaded = load();
    if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
    return *loaded;
  }
};

TEST_CASE("the project's file is below --config, the environment and the command line") {
  Project project;
  project.write("jobs: 1\nmemory: 3G\n");
  CHECK(project.settings().jobs == Setting<int>{1, "../../dsbuild.yaml:1:1"});
  project.arguments["--config"] = "ci";
  CHECK(project.settings().jobs == Setting<int>{3, "configs/ci.yaml:1:1"});
  CHECK(project.settings().memory.origin == "../../dsbuild.yaml:2:1");
  project.environment["MAX_JOBS"] = "4";
  CHECK(project.settings().jobs.origin == "MAX_JOBS");
  project.arguments["--jobs"] = "5";
  CHECK(project.settings().jobs.origin == "--jobs");
}

TEST_CASE("its paths are relative to it, and other texts are texts") {
  Project project;
  project.files.add_directory("/home/me/code/mypack");
  project.files.add_directory("/home/me/code/native");
  project.write(
      "pack: mypack\nsource: ./tree/\nout: b\nbuild_dir: ../w\ncuda_home: /cuda\npython: venv/bin/python\n"
      "cache_dir: cache\nops: \"@w.yaml\"\n");
  project.files.add_file("/home/me/code/w.yaml", "packs:\n  /home/me/code/mypack:\n    one: []\n");
  const Settings settings = project.settings();
  CHECK(settings.pack.value == "../../mypack");
  CHECK(settings.source.value == "../../tree");
  CHECK(settings.out.value == "../../b");
  CHECK(settings.build_dir.value == "../../../w");
  CHECK(settings.cuda_home.value == "/cuda");
  CHECK(settings.python.value == "../../venv/bin/python");
  CHECK(settings.local_cache.value == "../../cache");
  CHECK(settings.selection.workload_file == "../../w.yaml");
  project.write("pack: native\npython: python3.11\nbackend: nvcc\n");  // dsbuild's own pack comes first
  CHECK(project.settings().pack.value == "native");
  CHECK(project.settings().python.value == "python3.11");
}

TEST_CASE("the bundle and the build folder lie beside it, unless they are named") {
  Project project;
  project.write("jobs: 1\n");
  CHECK(project.settings().out == Setting<Path>{"../../dsbuild-out", "../../dsbuild.yaml"});
  CHECK(project.settings().build_dir == Setting<Path>{"../../.dsbuild", "../../dsbuild.yaml"});
  project.arguments["--out"] = "mine";
  CHECK(project.settings().out == Setting<Path>{"mine", "--out"});
  project.files.current = "/home/me/code";
  CHECK(project.settings().build_dir.is_default());
}

TEST_CASE("the search ends at the nearest file, at a repository's root and where it is told to") {
  Project project;
  project.write("jobs: 1\n");
  project.arguments["--no-config"] = "yes";
  CHECK(project.settings().jobs.is_default());
  project.arguments.values.clear();
  project.arguments.reads_project_file = false;
  CHECK(project.settings().jobs.is_default());
  project.arguments.reads_project_file = true;
  project.files.add_directory("/home/me/code/.git");
  CHECK(project.settings().jobs.value == 1);
  project.files.add_file("/home/me/code/src/.git", "gitdir: elsewhere\n");  // of a worktree
  CHECK(project.settings().jobs.is_default());
  project.files.add_file("/home/me/code/src/dsbuild.yaml", "jobs: 2\n");
  CHECK(project.settings().jobs == Setting<int>{2, "../dsbuild.yaml:1:1"});
}

TEST_CASE("one of another user is not read, with a warning") {
  Project project;
  project.write("jobs: 1\n");
  project.files.set_owner("/home/me/code/dsbuild.yaml", 1001);
  const Settings settings = project.settings();
  CHECK(settings.jobs.is_default());
  REQUIRE(settings.warnings.size() == 1);
  CHECK(settings.warnings[0].code == "foreign_config");
  CHECK(settings.warnings[0].where == "../../dsbuild.yaml");
  CHECK(settings.warnings[0].fix.find("--config ../../dsbuild.yaml.") != std::string::npos);
  project.files.set_owner("/home/me/code/src/deep", 1001);
  CHECK(project.settings().jobs.value == 1);
}

TEST_CASE("its errors name file, line and column") {
  Project project;
  project.write("ops: all\njbs: 3\n");
  CHECK(project.load().error().where == "../../dsbuild.yaml:2:1");
  project.write("ops: all\njobs: x\n");
  CHECK(project.load().error().where == "../../dsbuild.yaml:2:1");
  CHECK(project.load().error().code == "bad_number");
}

TEST_CASE("what a wrong value stands for is said") {
  Project project;
  const auto what = [&](const std::string& option, const std::string& text) {
    project.arguments.values = {{option, text}};
    const auto loaded = project.load();
    return loaded ? "" : loaded.error().what;
  };
  CHECK(what("--memory", "8") == "'8' means bytes (did you mean '8G'?)");
  CHECK(what("--memory", "512") == "'512' means bytes (did you mean '512M'?)");
  CHECK(what("--memory", "8 GiB").empty());
  CHECK(what("--memory", "8%") == "'8%' is not a size");
  CHECK(what("--jobs", "4.0") == "'4.0' is not a whole number of at least 1 (did you mean '4'?)");
  CHECK(what("--jobs", "0s") == "'0s' is not a whole number of at least 1");
  CHECK(what("--color", "no") == "'no' is not one of the choices (did you mean 'never'?)");
  CHECK(what("--pch", "yes") == "'yes' is not one of the choices (did you mean 'on'?)");
  CHECK(what("--backend", "yes") == "'yes' is not one of the choices");
}

}  // namespace
}  // namespace dsbuild
