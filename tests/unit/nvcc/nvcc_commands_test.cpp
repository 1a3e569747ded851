#include "nvcc/nvcc_commands.h"

#include <catch2/catch.hpp>

#include "nvcc/step_file.h"
#include "support/test_data.h"

using namespace dsbuild;

namespace {

// What `PATH=dsbuild_path nvcc -ccbin /usr/bin/g++ -O3 -Xcompiler=-fPIC -gencode… --dryrun --keep -c
// pack/dsbuild_tu.cu -o dsbuild_tu.o` prints: for sm_80, sm_90 and compute_90; -one: sm_90a and compute_90a;
// -ptx: compute_90. Its folder is /cuda.
std::string dry_run(const std::string& name) {
  return test_data("unit/nvcc/data/steps-" + name + ".txt");
}

NvccCommands commands(const std::string& name) {
  const LearntCommands learnt = parse_nvcc_commands(dry_run(name));
  if (!learnt) FAIL(learnt.error());
  return *learnt;
}

bool has(const Args& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> outputs(const std::vector<StepFile>& steps, const std::string& part) {
  for (const StepFile& step : steps)
    if (step.part == part) return step.outputs;
  return {};
}

}  // namespace

TEST_CASE("slices: every toolkit's dry run gives the same parts") {
  for (const std::string version : {"11.8", "13.0", "13.5"}) {
    INFO(version);
    const NvccCommands learnt = commands(version);
    REQUIRE(learnt.devices.size() == 2);
    CHECK(learnt.devices[0].arch == "compute_80");
    CHECK(learnt.devices[1].arch == "compute_90");
    CHECK(learnt.stub_arch == "compute_90");
    CHECK(learnt.arch_list == "800,900");
    CHECK(learnt.devices[0].compile.front().ends_with("cicc"));
    CHECK(learnt.devices[0].compile.front().find('$') == std::string::npos);
    CHECK(learnt.environment.at("PATH").ends_with(":dsbuild_path"));
    const auto steps = plan_steps(learnt, {});
    REQUIRE(steps.size() == 5);
    CHECK(outputs(steps, "front") == Args{".cudafe1.cpp"});
    CHECK(outputs(steps, "compute_80") ==
          Args{".compute_80.ptx", ".compute_80.cubin", ".compute_80.cudafe1.stub.c"});
    CHECK(outputs(steps, "compute_90") ==
          Args{".compute_90.ptx", ".compute_90.sm_90.cubin", ".compute_90.cudafe1.stub.c"});
    CHECK(steps[3].inputs == Args{".cudafe1.cpp", ".compute_90.cudafe1.stub.c"});
    CHECK(steps[4].inputs == Args{".compute_80.cubin", ".compute_90.ptx", ".compute_90.sm_90.cubin"});
  }
}

TEST_CASE("slices: nothing of the host's depends on the archs") {
  for (const std::string name : {"11.8", "13.0", "13.5", "13.0-one", "13.0-ptx"}) {
    INFO(name);
    const NvccCommands learnt = commands(name);
    for (const Args* words : {&learnt.front_end, &learnt.host_compile})
      for (const std::string& word : *words) {
        CHECK(word.find("compute_") == std::string::npos);
        CHECK(word.find("CUDA_ARCH") == std::string::npos);
      }
    CHECK_FALSE(has(learnt.front_end, "--gen_module_id_file"));
    for (const DeviceCommands& device : learnt.devices)
      CHECK_FALSE(has(device.compile, "--gen_module_id_file"));
  }
  // nvcc 13.5 gives cicc a word behind its input.
  CHECK(has(commands("13.5").devices[0].compile, "--simt-only"));
}

TEST_CASE("slices: one arch alone has the names that it has beside others") {
  const auto steps = plan_steps(commands("13.0-one"), {});
  CHECK(outputs(steps, "compute_90a") ==
        Args{".compute_90a.ptx", ".compute_90a.sm_90a.cubin", ".compute_90a.cudafe1.stub.c"});
  CHECK(steps.back().inputs == Args{".compute_90a.ptx", ".compute_90a.sm_90a.cubin"});
  const NvccCommands ptx = commands("13.0-ptx");
  CHECK(outputs(plan_steps(ptx, {}), "compute_90") == Args{".compute_90.ptx", ".compute_90.cudafe1.stub.c"});
  CHECK(ptx.devices[0].assemble.size() == 1);  // only checks
  const Args& compile = ptx.devices[0].compile;
  CHECK(has(compile, "dsbuild_tu.module_id"));
  CHECK(has(compile, "dsbuild_tu.fatbin.c"));
  CHECK(has(compile, "pack/dsbuild_tu.cu"));
}

TEST_CASE("slices: a line that is not understood is named") {
  const auto reason = [](const std::string& text) {
    const auto learnt = parse_nvcc_commands(text);
    return learnt ? "" : learnt.error();
  };
  CHECK(reason(dry_run("13.0") + "#$ newtool --do \"it\"\n").find("newtool --do \"it\"") !=
        std::string::npos);
  CHECK(reason("").find("none preprocesses") != std::string::npos);
  std::string no_cicc;
  for (const std::string& line : split_lines(dry_run("13.0")))
    if (line.find("compute_80") == std::string::npos || line.find("/cicc") == std::string::npos)
      no_cicc += line + "\n";
  CHECK(reason(no_cicc).find("ptxas") != std::string::npos);
}

TEST_CASE("slices: steps of another kind are refused, however the flag was spelled") {
  const auto with = [](const std::string& step, const std::string& word) {
    std::string text;
    for (const std::string& line : split_lines(dry_run("13.0")))
      text += line + (line.find(step) != std::string::npos ? " " + word : "") + "\n";
    const auto learnt = parse_nvcc_commands(text);
    return learnt ? "" : learnt.error();
  };
  CHECK(with("cudafe++", "--device-c") == "has --device-c");
  CHECK(with("ptxas -arch", "-ewp") == "has -ewp");
  CHECK(with("/cicc\"", "-g") == "has -g");
  CHECK(with("/cicc\"", "-show-src") == "has -show-src");
  CHECK(with("cudafe++", "--debug_mode") == "has --debug_mode");
  CHECK(with("/cicc\"", "-generate-line-info").empty());
  CHECK(with(" -c -x c++", "-g1").empty());
  CHECK(with(" -c -x c++", "-include") == "has -include");
  CHECK(with(" -c -x c++", "-O2").empty());
}

TEST_CASE("slices: flags that keep the steps from being asked for") {
  for (const std::string flag : {"--keep", "-time", "--options-file"})
    CHECK(unsliceable_flag({"nvcc", "-O3", flag}) == flag);
  CHECK(unsliceable_flag({"nvcc", "-O3", "-gencode=arch=compute_80,code=sm_80", "-Xptxas", "-v"}).empty());
}

TEST_CASE("slices: what is asked is the command with stand-ins") {
  CHECK(dry_run_command({"nvcc", "-O3", "--objdir-as-tempdir", "--threads=3", "-frandom-seed=a.cu"}) ==
        Args{"nvcc", "-O3", "-frandom-seed=dsbuild_seed", "--dryrun", "--keep", "-c", "pack/dsbuild_tu.cu",
             "-o", "dsbuild_tu.o"});
}

TEST_CASE("slices: a step file is read as it was written") {
  StepFile step;
  step.part = "compute_80";
  step.environment = {{"PATH", "/a b:$x"}, {"EMPTY", ""}};
  step.preprocess = {"g++", "-D", "A=\"q w\"", "it's"};
  step.commands = {{"cicc", "$HOME"}, {"ptxas", "a\\b"}};
  step.inputs = {".a"};
  step.outputs = {".b", ".c d"};
  step.nvcc = {"nvcc", "-O3"};
  CHECK(parse_step_file(render_step_file(step)) == step);
}
