#include "arch/nvidia.h"
#include "base/args.h"
#include "spec_world.h"

namespace dsbuild {
namespace {

std::vector<std::string> ids(const OpSpec& spec) {
  std::vector<std::string> all;
  for (const SourceSpec& source : spec.sources)
    all.push_back(source.id());
  return all;
}

std::vector<std::string> values(const TextEntries& entries) {
  std::vector<std::string> all;
  for (const auto& entry : entries)
    all.push_back(entry.value);
  return all;
}

TEST_CASE("a name and a source are enough; the rest has defaults") {
  const OpSpec spec = SpecWorld().spec("name: fused_adam\nsources: [a.cu]\n");
  OpSpec expected;
  expected.name = "fused_adam";
  expected.build_var = "DS_BUILD_FUSED_ADAM";
  expected.sources = {SourceSpec{}};
  expected.sources[0].path = "a.cu";
  expected.file = "x/op.yaml";
  CHECK(spec == expected);
  CHECK(spec.backend == BackendKind::cuda);
  CHECK_FALSE(spec.std_cxx);
  CHECK(spec.sources[0].origin.text == "x/op.yaml:2:11");
}

TEST_CASE("scalars are text as written, so 10.0 needs no quotes") {
  const OpSpec spec =
      SpecWorld().spec("name: x\nsources: [a.cu]\narchs: {min: 10.0}\ndefines: {A: 10.0, B: no}\n");
  CHECK(spec.archs.min == NvidiaTarget{{10, 0}});
  CHECK(spec.defines[0].value.second == "10.0");
  CHECK(spec.defines[1].value.second == "no");
}

TEST_CASE("a glob stands for its files in sorted order, without hidden ones") {
  CHECK(ids(SpecWorld().spec("name: x\nsources: [{glob: bwd/*.cu}, a.cu]\n")) ==
        Args{"a.cu", "bwd/one.cu", "bwd/two.cu"});
  CHECK(ids(SpecWorld().spec("name: x\nsources: [{glob: \"b?d/t*o.cu\"}]\n")) == Args{"bwd/two.cu"});
  CHECK(ids(SpecWorld().spec("name: x\nsources: [{glob: \"*.c*\"}]\n")) == Args{"a.cu", "b.cpp"});
}

TEST_CASE("** stands for folders, none too, and not for links; exclude leaves files out") {
  SpecWorld world;
  for (const char* path : {"bwd/deep/three.cu", "bwd/deep/er/four.cu", "bwd/.git/five.cu"})
    world.files.add_file(Path("/src") / path, "");
  world.files.add_link("/src/bwd/again", "/src/bwd");
  const auto paths = [&](const std::string& entry) {
    std::vector<std::string> all;
    for (const SourceSpec& source : world.spec("name: x\nsources: [" + entry + "]\n").sources)
      all.push_back(source.path);
    return all;
  };
  using Paths = std::vector<std::string>;
  CHECK(paths("{glob: \"**/*.cu\"}") ==
        Paths{"a.cu", "bwd/deep/er/four.cu", "bwd/deep/three.cu", "bwd/one.cu", "bwd/two.cu"});
  CHECK(paths("{glob: \"bwd/**/*.cu\"}") ==
        Paths{"bwd/deep/er/four.cu", "bwd/deep/three.cu", "bwd/one.cu", "bwd/two.cu"});
  CHECK(paths("{glob: \"**/deep/**/f*.cu\"}") == Paths{"bwd/deep/er/four.cu"});
  CHECK(paths("{glob: \"**/*.cu\", exclude: [a.cu, \"**/deep/**/*.cu\"]}") ==
        Paths{"bwd/one.cu", "bwd/two.cu"});
}

TEST_CASE("an option of nvcc's and its value may be two words, and what is the job control's is dropped") {
  const OpSpec spec = SpecWorld().spec(
      "name: x\nsources: [a.cu]\nflags: {nvcc: [-Xptxas, -v, -diag-suppress, \"177,550\", \"-Xcompiler "
      "-Wall\", "
      "--threads, 4, -t=0, {value: -G, when: {cuda: \">=12\"}}, -maxrregcount, 64]}\n");
  std::vector<std::string> flags;
  for (const auto& entry : spec.flags.nvcc)
    flags.push_back(entry.value);
  CHECK(flags == std::vector<std::string>{"-Xptxas=-v", "-diag-suppress=177,550", "-Xcompiler=-Wall", "-G",
                                          "-maxrregcount=64"});
}

TEST_CASE("an op may say why it is not for other backends") {
  const std::string op = "name: x\nsources: [a.cu]\n";
  const OpSpec spec =
      SpecWorld().spec(op + "unsupported: {hip: \"it is made of CUTLASS\", sycl: it is CUDA}\n");
  CHECK(spec.unsupported == std::map<BackendKind, std::string>{{BackendKind::hip, "it is made of CUTLASS"},
                                                               {BackendKind::sycl, "it is CUDA"}});
  const auto error = [&](const std::string& text) { return SpecWorld().error(op + text); };
  CHECK(
      error("unsupported: {hop: x}\n") ==
      "bad_spec x/op.yaml:3:15: 'unsupported': 'hop' is not a backend (did you mean 'hip'?); there are cuda, "
      "cpu, "
      "hip, sycl");
  CHECK(error("unsupported: {cuda: x}\n") ==
        "bad_spec x/op.yaml:3:15: 'unsupported': the op is for cuda | Keep one of them.");
  CHECK(error("unsupported: {cpu: x}\n") ==
        "bad_spec x/op.yaml:3:15: 'unsupported': cpu has no GPUs that could be asked for");
  CHECK(error("unsupported: hip\n") ==
        "bad_spec x/op.yaml:3:14: 'unsupported' takes a map of backends to reasons");
  CHECK(error("unsupported: {hip: \"a\\nb\"}\n") ==
        "bad_spec x/op.yaml:3:20: 'unsupported.hip': 'a\nb' is not one line of plain text");
}

TEST_CASE("for makes one translation unit of every combination, whatever the order of its keys") {
  const SpecWorld world;
  const OpSpec spec =
      world.spec("name: x\nsources:\n  - {path: a.cu, for: {D: [64, 32], T: [half, float]}}\n");
  CHECK(ids(spec) == Args{"a.cu,D=32,T=float", "a.cu,D=32,T=half", "a.cu,D=64,T=float", "a.cu,D=64,T=half"});
  CHECK(spec == world.spec("name: x\nsources:\n  - {for: {T: [float, half], D: [32, 64]}, path: a.cu}\n"));
}

TEST_CASE("for makes at most 4096 combinations") {
  std::string values = "0";
  for (int i = 1; i < 64; ++i)
    values += ", " + std::to_string(i);
  const std::string two =
      "name: x\nsources:\n  - {path: a.cu, for: {A: [" + values + "], B: [" + values + "]}}\n";
  const std::string more =
      "name: x\nsources:\n  - {path: a.cu, for: {A: [" + values + "], B: [" + values + ", 64]}}\n";
  CHECK(SpecWorld().spec(two).sources.size() == 4096);
  CHECK(SpecWorld().error(more) == "bad_spec x/op.yaml:3:23: 'for' makes over 4096 combinations");
}

TEST_CASE("an entry of a list is a word or a value with a condition") {
  const OpSpec spec = SpecWorld().spec(
      "name: x\nsources: [a.cu]\nflags:\n  cxx: [-O3, {value: -mavx2, when: {cpu: x86_64}}]\n"
      "libraries: [{value: cublasLt, when: {cuda: \">=11.0\"}}]\n");
  CHECK(values(spec.flags.cxx) == Args{"-O3", "-mavx2"});
  CHECK(spec.flags.cxx[0].when.empty());
  CHECK(spec.flags.cxx[1].when.cpu == "x86_64");
  CHECK(spec.libraries[0].when.cuda->text == ">=11.0");
}

TEST_CASE("a define has a value, a condition, or neither") {
  const OpSpec spec = SpecWorld().spec(
      "name: x\nsources: [a.cu]\ndefines:\n  Z: 1\n  A:\n  M: {value: 2, when: {any_arch: 9.0a}}\n"
      "  N: {when: {every_arch: \">=8.0\"}}\n");
  REQUIRE(spec.defines.size() == 4);
  CHECK(spec.defines[0].value == std::pair<std::string, std::string>{"A", ""});
  CHECK(spec.defines[1].value == std::pair<std::string, std::string>{"M", "2"});
  CHECK(spec.defines[1].when.any_arch == "9.0a");
  CHECK(spec.defines[2].when.every_arch == ">=8.0");
  CHECK(spec.defines[3].value.second == "1");
}

TEST_CASE("every kind of requirement is read, with its hint and condition") {
  const OpSpec spec = SpecWorld().spec(R"(name: x
sources: [a.cu]
requires:
  - {cuda: ">=11.0"}
  - {header: cutlass/cutlass.h, hint: "pip install nvidia-cutlass, or set CUTLASS_PATH"}
  - {library: aio, function: io_submit, hint: {apt: libaio-dev, dnf: libaio-devel}}
  - {command: [ninja, ninja-build]}
  - {command: git}
  - {cpu: avx2, when: {cpu: x86_64}}
  - {module: triton.language}
  - {tvm_ffi: ">=0.1"}
  - {torch: ">=2.0,<3"}
  - {folder: numpy/_core/include, in: packages}
  - {folder: include, in: python, hint: pip install it}
  - {folder: /opt/site/~a/include, for: cxx}
  - {source: b.cpp, lacks: int twice, because: it says twice}
  - {source: gone.cpp, lacks: int, because: it does, when: {source: "<0.19.8"}}
)");
  Args texts;
  for (const Requirement& requirement : spec.requires_)
    texts.push_back(requirement.text());
  CHECK(texts == Args{"cuda >=11.0", "header cutlass/cutlass.h", "library aio with io_submit",
                      "command ninja or ninja-build", "command git", "CPU feature avx2",
                      "Python module triton.language", "tvm-ffi >=0.1", "torch >=2.0,<3",
                      "folder numpy/_core/include in packages", "folder include in python",
                      "folder /opt/site/~a/include", "source b.cpp", "source gone.cpp"});
  CHECK(spec.requires_[1].hint ==
        std::map<std::string, std::string>{{"", "pip install nvidia-cutlass, or set CUTLASS_PATH"}});
  CHECK(spec.requires_[2].hint ==
        std::map<std::string, std::string>{{"apt", "libaio-dev"}, {"dnf", "libaio-devel"}});
  CHECK(spec.requires_[5].when.cpu == "x86_64");
  CHECK(spec.requires_[8].origin.text == "x/op.yaml:12:5");
  CHECK(spec.requires_[9].in == k_in_packages);
  CHECK(spec.requires_[10].in == k_in_python);
  CHECK(spec.requires_[11].in.empty());
  CHECK(spec.requires_[11].language == k_for_cxx);
  CHECK(spec.requires_[10].language.empty());
  CHECK(spec.requires_[12].lacks == "int twice");
  CHECK(spec.requires_[12].because == "it says twice");
}

TEST_CASE("sources of another version of the tree are not looked for") {
  const std::string text =
      "name: x\nsources:\n  - a.cu\n  - {path: gone.cu, when: {source: \"<0.19.8\"}}\n"
      "  - {glob: old/*.cu, when: {source: \"<0.19.8\"}}\n";
  CHECK(ids(SpecWorld().spec(text)) == Args{"a.cu", "gone.cu"});
}

TEST_CASE("an op of several backends is a spec for each, with that one's archs and sources") {
  SpecWorld world;
  world.files.add_file("/src/fast.hip", "");
  const OpSpec spec = world.spec(
      "name: x\nbackends: [hip, cuda]\narchs: {cuda: {min: 8.0}, hip: {only: [gfx90a, gfx942]}}\n"
      "flags: {nvcc: [-lineinfo], hip: [-ffast-math]}\nstd: {hip: 20}\n"
      "sources: [a.cu, b.cpp, {path: fast.hip, backend: hip, archs: {only: [gfx942]}},\n"
      "  {path: bwd/one.cu, backend: [cuda], archs: {min: 9.0}}]\n");
  CHECK(spec.backend == BackendKind::cuda);
  CHECK(spec.backends == std::vector{BackendKind::cuda, BackendKind::hip});
  const auto sources = [](const OpSpec& one) {
    Args ids;
    for (const SourceSpec& source : OpBuilder(one).sources({}))
      ids.push_back(source.id() + (source.archs.empty() ? "" : " " + source.archs.text()));
    return ids;
  };
  CHECK(spec.archs.text() == ">= 8.0");
  CHECK(sources(spec) == Args{"a.cu", "b.cpp", "bwd/one.cu >= 9.0"});
  const OpSpec hip = for_backend(spec, BackendKind::hip);
  CHECK(hip.archs.text() == "only gfx90a gfx942");
  CHECK(sources(hip) == Args{"a.cu", "b.cpp", "fast.hip only gfx942"});
  CHECK(for_backend(hip, BackendKind::cuda) == spec);
  CHECK(OpBuilder(hip).hip_args(hip.sources.front(), {}) == Args{"-std=c++20", "-ffast-math"});
}

TEST_CASE("a pattern of AMD's stands for its processor with whatever features, or with those it names") {
  const OpSpec spec = SpecWorld().spec(
      "name: x\nbackend: hip\narchs: {only: [gfx90a, \"gfx942:xnack-\"]}\nsources: [a.cu]\n");
  const FilteredArchs filtered = apply_filter(
      spec.archs,
      parse_arch_list("gfx90a:xnack+;gfx90a:xnack-;gfx942:xnack+;gfx942:xnack-;gfx1100", "test")->targets);
  CHECK(arch_list(filtered.kept) == "gfx90a:xnack+;gfx90a:xnack-;gfx942:xnack-");
  CHECK(filtered.dropped.front().reason == "only gfx90a gfx942:xnack-");
}

TEST_CASE("the example of docs/reference/op_yaml.md is a valid spec that uses every key") {
  const std::string doc =
      make_real_file_system()->read_file(Path(DSBUILD_TESTS_DIR) / "../docs/reference/op_yaml.md").value();
  const size_t start = doc.find("```yaml\n# ops/") + 8;
  REQUIRE(start < doc.size());
  const std::string example = doc.substr(start, doc.find("```", start) - start);
  SpecWorld world;
  for (const char* path : {"attention_forward.cu", "attention_sm90.cu", "attention_inst.cu",
                           "many_templates.cu", "attention.cpp"}) {
    world.files.add_file(Path("/src") / path, "");
  }
  const OpSpec spec = world.spec(example);
  for (const char* key : {"name", "build_var", "module", "module_suffix", "description", "backend",
                          "backends", "unsupported", "archs", "needs", "sources", "include_dirs", "defines",
                          "std", "flags", "libraries", "undefined_symbols", "requires", "exports"}) {
    INFO(key);
    CHECK(example.find("\n" + std::string(key) + ":") != std::string::npos);
    CHECK(doc.find("`" + std::string(key) + "`") != std::string::npos);
  }
  CHECK(spec.name == "evoformer_attn");
  CHECK(spec.archs.text() == ">= 7.0");
  CHECK(spec.sources.size() == 2 + 2 + 1 + 1 + 4);
  CHECK(spec.requires_.size() == 10);
}

}  // namespace
}  // namespace dsbuild
