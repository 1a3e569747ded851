#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "base/text.h"
#include "toolkit/toolkit.h"

using namespace dsbuild;

namespace {

// Some toolkits in order, a request and settings; what an op set keeps is all of it unless said otherwise.
struct Choice {
  Settings settings;
  Toolkits toolkits;
  ToolkitDemand demand;
  std::vector<Target> gpus;

  Choice& with(const std::string& version, const std::string& origin = "/usr/local", int gcc_max = 99) {
    Toolkit toolkit;
    toolkit.version = parse_version(version).value();
    toolkit.home = "/cuda-" + toolkit.version.short_text();
    toolkit.origin = origin;
    toolkit.targets = targets_of_cuda(toolkit.version_code());
    toolkit.bounds = {gcc_max, gcc_max};
    const HostCompiler gcc{"/usr/bin/g++", "gcc", parse_version("12.2.0").value(), "PATH"};
    if (toolkit.bounds.accepts(gcc)) toolkit.host = gcc;
    toolkits.host_compilers = {gcc};
    toolkits.found.push_back(toolkit);
    return *this;
  }
  Choice& rejecting(const std::string& origin) {
    toolkits.rejected.push_back({"/bad", origin, "it has no bin/nvcc"});
    return *this;
  }
  Choice& asking(const std::string& list) {
    demand.request = parse_arch_list(list, "--arch").value();
    demand.kept = demand.request.targets;
    settings.arch = {demand.request, "--arch"};
    return *this;
  }
  Choice& asking_for_default() {
    demand.request.is_default = true;
    return *this;
  }
  Choice& keeping(const std::string& list) {
    demand.kept = parse_arch_list(list, "--arch").value().targets;
    return *this;
  }
  Choice& cuda_home(const std::string& home) {
    settings.cuda_home = {home, "--cuda-home"};
    return *this;
  }
  Choice& dropping() {
    settings.drop_unsupported_archs = {true, "--drop-unsupported-archs"};
    return *this;
  }

  Result<ChosenToolkit> choose() const { return choose_toolkit(settings, toolkits, demand, gpus); }
  // "13.0", or the error's code.
  std::string chosen() const {
    const auto choice = choose();
    return choice ? choice->toolkit.version.short_text() : choice.error().code;
  }
  Error error() const {
    const auto choice = choose();
    REQUIRE_FALSE(choice);
    CHECK(choice.error().exit == Exit::unmet);
    return choice.error();
  }
  std::string advice() const {
    const ToolkitAdvice advice = advise_toolkit(settings, toolkits, demand, gpus, true);
    return advice.kind == ToolkitAdvice::Kind::get    ? "get " + advice.version
           : advice.kind == ToolkitAdvice::Kind::have ? "have"
                                                      : "impossible";
  }
};

std::vector<std::string> codes(const std::vector<Warning>& warnings) {
  std::vector<std::string> all;
  for (const Warning& warning : warnings)
    all.push_back(warning.code + " " + warning.where);
  return all;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("The first toolkit that targets all that is kept is taken") {
  CHECK(Choice().with("13.0.88").with("11.8.89").asking("8.0").chosen() == "13.0");
  CHECK(Choice().with("13.0.88").with("11.8.89").asking("7.0;8.0+PTX").chosen() == "11.8");
  CHECK(Choice().with("13.0.88").with("12.8.93").with("11.8.89").asking("7.0").chosen() == "12.8");
}

TEST_CASE("all, all-major and the default list take the first toolkit") {
  for (const char* word : {"all", "all-major"}) {
    CHECK(Choice().with("13.0.88").with("11.8.89").asking(word).chosen() == "13.0");
  }
  const auto choice = Choice().with("12.4.131").with("13.0.88").asking_for_default().keeping("12.0").choose();
  REQUIRE(choice);
  CHECK(choice->toolkit.version.short_text() == "12.4");
  CHECK(arch_list(choice->requested) == "7.0;7.5;8.0;8.6;8.9;9.0+PTX");
  CHECK(choice->warnings.empty());
}

TEST_CASE("A named target beside all decides for a toolkit that has it") {
  const auto choice = Choice().with("13.0.88").with("11.8.89").asking("all-major;7.2").choose();
  REQUIRE(choice);
  CHECK(target_names(choice->requested) == "sm_35 sm_50 sm_60 sm_70 sm_72 sm_80 sm_90 compute_90");
}

TEST_CASE("What no op keeps does not count against a toolkit, and stays in the request") {
  const auto choice = Choice().with("13.0.88").asking("7.0;8.0+PTX").keeping("8.0+PTX").choose();
  REQUIRE(choice);
  CHECK(arch_list(choice->requested) == "7.0;8.0+PTX");
  CHECK(choice->warnings.empty());
}

TEST_CASE("A target that an op specialises to counts as what is kept") {
  CHECK(Choice().with("11.8.89").with("12.4.131").asking("9.0").keeping("9.0a").chosen() == "12.4");
}

TEST_CASE("CUDA_HOME and CUDA_PATH are a preference; one line says that another is used") {
  const auto [origin, warned] =
      GENERATE(table<std::string, Lines>({{"CUDA_HOME", {"other_toolkit CUDA_HOME"}},
                                          {"CUDA_PATH", {"other_toolkit CUDA_PATH"}},
                                          {"PATH", {}}}));
  Choice choice;
  choice.with("13.0.88", origin).with("11.8.89", "dsbuild").asking("7.0");
  REQUIRE(choice.choose());
  CHECK(codes(choice.choose()->warnings) == warned);
  CHECK(codes(choice.asking("8.0").choose()->warnings).empty());
}

TEST_CASE("The line on another toolkit names both and why") {
  const auto choice = Choice().with("13.0.88", "CUDA_HOME").with("11.8.89").asking("7.0;8.0").choose();
  REQUIRE(choice);
  CHECK(choice->warnings.at(0).what ==
        "CUDA 13.0.88 (/cuda-13.0) cannot target 7.0; CUDA 11.8.89 (/cuda-11.8) is used");
}

TEST_CASE("A CUDA_HOME that is no toolkit is worth a line, other rejected folders are not") {
  const auto choice = Choice().rejecting("CUDA_HOME").rejecting("pip").with("13.0.88").asking("8.0").choose();
  REQUIRE(choice);
  CHECK(codes(choice->warnings) == Lines{"other_toolkit CUDA_HOME"});
}

TEST_CASE("--cuda-home is a demand") {
  Choice choice;
  choice.with("13.0.88", "--cuda-home").with("11.8.89").cuda_home("/cuda-13.0");
  CHECK(choice.asking("8.0").chosen() == "13.0");
  const Error error = choice.asking("7.0").error();
  CHECK(error.code == "toolkit_lacks_archs");
  CHECK(error.where == "--arch");
  CHECK(error.what == "the toolkit of --cuda-home cannot target all of 7.0");
  CHECK(split_lines(error.fix) ==
        Lines{
            "CUDA 13.0.88 (/cuda-13.0) lacks 7.0",
            "CUDA 9.0 to 12.9 target all of it",
            "--cuda-home /cuda-11.8   (CUDA 11.8.89, installed here)",
            "dsbuild toolkits get 11.8   (fetches CUDA 11.8 into your cache folder)",
            "dsbuild toolkits get 12.4   (fetches CUDA 12.4 into your cache folder)",
        });
}

// CUDA 13.0's release notes: Thor, sm_101 of CUDA 12.9, is sm_110.
TEST_CASE("An arch that newer toolkits call by another name is told with it") {
  const Error error = Choice().with("13.0.88").asking("8.0;10.1+PTX").error();
  CHECK(split_lines(error.fix).at(1) ==
        "10.1 is called 11.0 by CUDA 13.0.88: ask for that, it is the same GPU");
  CHECK(Choice().with("11.8.89").asking("10.1").error().fix.find("is called") == std::string::npos);
}

TEST_CASE("--cuda-home that is no toolkit is an error, whatever else is installed") {
  const Error error =
      Choice().rejecting("--cuda-home").with("13.0.88").cuda_home("/bad").asking("8.0").error();
  CHECK(error.code == "no_toolkit");
  CHECK(error.where == "--cuda-home");
  CHECK(error.what == "/bad is not a CUDA toolkit: it has no bin/nvcc");
}

// DeepSpeed's documentation example.
TEST_CASE("What no toolkit targets: each toolkit's lack, the versions that cover all, the commands") {
  const Error error =
      Choice().with("13.0.88").with("11.8.89").asking("6.0 6.1 7.0 7.5 8.0 8.6 9.0 10.0+PTX").error();
  CHECK(error.code == "toolkit_lacks_archs");
  CHECK(error.what == "no installed CUDA toolkit can target all of 6.0 6.1 7.0 7.5 8.0 8.6 9.0 10.0+PTX");
  CHECK(split_lines(error.fix) == Lines{
                                      "CUDA 13.0.88 (/cuda-13.0) lacks 6.0 6.1 7.0",
                                      "CUDA 11.8.89 (/cuda-11.8) lacks 10.0+PTX",
                                      "CUDA 12.8 to 12.9 target all of it",
                                      "--drop-unsupported-archs   (builds without what the toolkit lacks)",
                                  });
}

TEST_CASE("A list that no CUDA version targets as a whole says so") {
  const Error error = Choice().with("13.0.88").asking("3.5;10.0").error();
  CHECK(error.fix.find("no CUDA version targets all of it: split the list") != std::string::npos);
}

TEST_CASE("--drop-unsupported-archs takes the toolkit that lacks least, the first among equals") {
  CHECK(Choice().with("13.0.88").with("12.8.93").dropping().asking("3.5;7.0;8.0").chosen() == "12.8");
  CHECK(Choice().with("13.0.88").with("12.4.131").dropping().asking("7.0;11.0;8.0").chosen() == "13.0");
  const auto choice = Choice().with("13.0.88").dropping().asking("7.0;8.0+PTX").choose();
  REQUIRE(choice);
  CHECK(codes(choice->warnings) == Lines{"archs_dropped --drop-unsupported-archs"});
  CHECK(choice->warnings[0].what == "CUDA 13.0.88 (/cuda-13.0) cannot target 7.0; dsbuild builds without it");
}

TEST_CASE("--drop-unsupported-archs never drops everything") {
  const Error error = Choice().with("13.0.88").dropping().asking("7.0").error();
  CHECK(error.code == "toolkit_lacks_archs");
  CHECK(error.fix.find("--drop-unsupported-archs") == std::string::npos);
}

TEST_CASE("A toolkit without a host compiler is passed over while another one will do") {
  CHECK(Choice().with("11.8.89", "PATH", 11).with("12.8.93", "PATH", 14).asking("7.0").chosen() == "12.8");
}

TEST_CASE("No compiler for the only toolkit that will do: its bounds, what is here, what to install") {
  const Error error = Choice().with("13.0.88").with("11.8.89", "dsbuild", 11).asking("7.0").error();
  CHECK(error.code == "no_host_compiler");
  CHECK(error.what ==
        "CUDA 11.8.89 takes gcc <= 11, clang <= 11 as its host compiler; this machine has: gcc 12.2.0 "
        "(/usr/bin/g++)");
  CHECK(error.fix.rfind("apt-get install g++-11 ", 0) == 0);
}

TEST_CASE("No toolkit at all: what was rejected and how to get one") {
  const Error error = Choice().rejecting("CUDA_HOME").asking("8.0").error();
  CHECK(error.code == "no_toolkit");
  CHECK(split_lines(error.fix) ==
        Lines{
            "/bad (CUDA_HOME): it has no bin/nvcc",
            "dsbuild toolkits get 13.5   (fetches CUDA 13.5 into your cache folder)",
            "dsbuild toolkits get 11.8   (fetches CUDA 11.8 into your cache folder)",
            "dsbuild toolkits get 12.4   (fetches CUDA 12.4 into your cache folder)",
            "or pass --cuda-home DIR with the folder that holds bin/nvcc",
        });
}

TEST_CASE("native takes the first toolkit that targets the machine's GPUs") {
  Choice choice;
  choice.with("11.8.89").with("13.0.88").asking("native").keeping("10.0+PTX");
  choice.gpus = {NvidiaTarget{{10, 0}}};
  const auto chosen = choice.choose();
  REQUIRE(chosen);
  CHECK(chosen->toolkit.version.short_text() == "13.0");
  CHECK(arch_list(chosen->requested) == "10.0+PTX");
  choice.gpus = {};
  CHECK(choice.error().code == "no_gpu");
  CHECK(choice.error().where == "--arch");
}

TEST_CASE("Advice: nothing is needed, or what is installed will do") {
  CHECK(advise_toolkit({}, {}, {}, {}, false) == ToolkitAdvice{ToolkitAdvice::Kind::none_needed, ""});
  CHECK(Choice().with("13.0.88").asking("8.0").advice() == "have");
  CHECK(Choice().with("13.0.88").asking_for_default().advice() == "have");
  CHECK(Choice().with("13.0.88").asking("7.0;8.0").dropping().advice() == "have");
}

TEST_CASE("Advice: get 13.5 where it targets all, 11.8 for what 13 dropped") {
  CHECK(Choice().asking("7.0;8.0+PTX").advice() == "get 11.8");
  CHECK(Choice().with("13.0.88").asking("7.0;8.0+PTX").advice() == "get 11.8");
  CHECK(Choice().asking("7.5;8.0;9.0a+PTX;12.0f").advice() == "get 13.5");
  CHECK(Choice().asking("8.0").advice() == "get 13.5");
  CHECK(Choice().asking("all").advice() == "get 13.5");
  CHECK(Choice().asking_for_default().advice() == "get 13.5");
  CHECK(Choice().with("13.0.88").asking("10.7").advice() == "get 13.5");
}

TEST_CASE("Advice: a toolkit without its compiler is got again, with one") {
  CHECK(Choice().with("11.8.89", "dsbuild", 11).asking("7.0").advice() == "get 11.8");
}

TEST_CASE("Advice: offline nothing is got") {
  Choice choice = Choice().asking("8.0");
  choice.settings.offline = {true, "--offline"};
  CHECK(choice.advice() == "impossible");
  CHECK(choice.with("13.0.88").advice() == "have");
}

TEST_CASE("Advice: impossible where neither toolkit targets all, or --cuda-home demands another") {
  CHECK(Choice().with("13.0.88").asking("7.0;10.0").advice() == "impossible");
  CHECK(Choice().with("13.0.88", "--cuda-home").cuda_home("/cuda-13.0").asking("7.0").advice() ==
        "impossible");
  CHECK(Choice().with("13.0.88").asking("native").advice() == "impossible");
}

TEST_CASE("with torch, toolkits that do not go with its CUDA are passed over") {
  Choice choice;
  choice.with("11.8").with("13.5").with("13.0").asking("8.0");
  CHECK(choice.chosen() == "11.8");
  choice.demand.torch_cuda = *parse_version("13.0");
  CHECK(choice.chosen() == "13.5");
  CHECK(choice.choose()->warnings.empty());
}

TEST_CASE(
    "where no toolkit goes with torch's CUDA the choice is as without torch, and one is worth getting") {
  Choice choice;
  choice.with("11.8").asking("8.0");
  choice.demand.torch_cuda = *parse_version("13.0");
  CHECK(choice.chosen() == "11.8");
  CHECK(choice.advice() == "get 13.5");
  choice.demand.torch_cuda = *parse_version("12.8");
  CHECK(choice.advice() == "get 12.4");
  choice.demand.torch_cuda = *parse_version("10.2");
  CHECK(choice.advice() == "impossible");
}

TEST_CASE("--cuda-home is a demand whatever torch's CUDA is; CUDA_HOME is passed over with a line") {
  Choice demanded;
  demanded.with("11.8", "--cuda-home").with("13.0").asking("8.0").cuda_home("/cuda-11.8");
  demanded.demand.torch_cuda = *parse_version("13.0");
  CHECK(demanded.chosen() == "11.8");
  Choice preferred;
  preferred.with("11.8", "CUDA_HOME").with("13.0").asking("8.0");
  preferred.demand.torch_cuda = *parse_version("13.0");
  REQUIRE(preferred.choose()->warnings.size() == 1);
  CHECK(
      preferred.choose()->warnings[0].what ==
      "CUDA 11.8 (/cuda-11.8) does not go with torch, which is of CUDA 13.0; CUDA 13.0 (/cuda-13.0) is used");
}

TEST_CASE("a request that only toolkits of another CUDA than torch's target says so") {
  Choice choice;
  choice.with("13.0").with("11.8").asking("7.0;8.0");
  choice.demand.torch_cuda = *parse_version("13.0");
  const Error error = choice.error();
  CHECK(error.code == "toolkit_lacks_archs");
  CHECK(error.fix ==
        "CUDA 13.0 (/cuda-13.0) lacks 7.0\nCUDA 11.0 to 12.9 target all of it\n"
        "torch is of CUDA 13.0, which takes a toolkit of CUDA 13.0 to 13.5\n"
        "--drop-unsupported-archs   (builds without what the toolkit lacks)");
}
