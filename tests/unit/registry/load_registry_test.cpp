#include "spec_world.h"

namespace dsbuild {
namespace {

struct PackWorld {
  mutable FakeFileSystem files;
  Settings settings;
  Environment environment;

  PackWorld() {
    settings.data_dir = "/data";
    files.add_file("/data/ops/native/pack.yaml", "name: native\nsource_root: ../../kernels\n");
    files.add_file("/data/kernels/a.cu", "");
    files.add_directory("/data/ops/deepspeed");
    add("native/fused_adam", "name: fused_adam\nsources: [a.cu]\n");
    add("native/cpu_adam", "name: cpu_adam\nbackend: cpu\nsources: [a.cpp]\n");
    files.add_file("/data/kernels/a.cpp", "");
  }
  void add(const std::string& folder, const std::string& text) {
    files.add_file(Path("/data/ops") / folder / "op.yaml", text);
  }
  Registry registry() const {
    const auto loaded = load_registry_of(settings, files, environment);
    if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
    return *loaded;
  }
  std::string error() const {
    const auto loaded = load_registry_of(settings, files, environment);
    if (loaded) return "no error";
    CHECK(loaded.error().exit == Exit::usage);
    const Error& error = loaded.error();
    return error_text(error);
  }
};

TEST_CASE("a pack's ops are sorted by name and its sources stand below its source root") {
  const Registry registry = PackWorld().registry();
  CHECK(registry.pack == "native");
  CHECK(registry.names() == std::vector<std::string>{"cpu_adam", "fused_adam"});
  CHECK(registry.source_root == "/data/kernels");
  CHECK(registry.spec_root == "/data/ops/native");
  CHECK(registry.find("fused_adam")->spec().file == "/data/ops/native/fused_adam/op.yaml");
  CHECK(registry.find("fused") == nullptr);
  CHECK(registry.find("zzz") == nullptr);
}

TEST_CASE("messages name files of the data folder by their place in it") {
  PackWorld world;
  world.add("native/bad", "name: bad\nsources: [gone.cu]\n");
  CHECK(world.error() ==
        "missing_source ops/native/bad/op.yaml:2:11: 'gone.cu' is not there | Paths are relative to "
        "the pack's source root, /data/kernels.");
}

TEST_CASE("--source replaces the pack's source root") {
  PackWorld world;
  world.files.add_file("/project/mine/a.cu", "");
  world.files.add_file("/project/mine/a.cpp", "");
  world.settings.source = {"mine", "--source"};
  CHECK(world.registry().source_root == "/project/mine");
  world.settings.source = {"nowhere", "--source"};
  CHECK(world.error() ==
        "missing_source --source: the source root is not a folder | Looked for /project/nowhere. "
        "--source DIR names another.");
}

TEST_CASE("an unknown pack is an error that lists the packs") {
  PackWorld world;
  world.settings.pack = {"natve", "--pack"};
  CHECK(world.error() ==
        "unknown_pack --pack: there is no pack 'natve' (did you mean 'native'?) | Packs: deepspeed, "
        "native. A folder of your own is given by its path.");
  world.files.add_directory("/project/empty");
  world.settings.pack = {"./empty", "--pack"};
  CHECK(world.error() ==
        "unknown_pack --pack: './empty' holds no op.yaml | A pack is a folder with <op>/op.yaml for "
        "each of its ops; `dsbuild new my_op --pack ./empty` writes one.");
}

TEST_CASE("an op's name is checked without a spec: its own rule and that of its variable") {
  CHECK(op_name_refusal("fused_adam").empty());
  CHECK(op_name_refusal("Fused").find("is not a valid op name. A name has a lower-case") == 0);
  CHECK(op_name_refusal("ops") == "is not a valid op name: DS_BUILD_OPS has a meaning of its own");
}

TEST_CASE("a folder is a pack when it holds an op.yaml, or one in each of its folders") {
  PackWorld world;
  world.files.add_file("/project/one/op.yaml", "name: one\nsources: [k.cu]\n");
  world.files.add_file("/project/one/k.cu", "");
  for (const std::string name : {"one", "./one", "/project/one", "one/"}) {
    world.settings.pack = {name, "--pack"};
    CHECK(world.registry().pack == "one");
    CHECK(world.registry().source_root == "/project/one");
    CHECK(world.registry().names() == std::vector<std::string>{"one"});
  }
  world.files.add_file("/project/many/two/op.yaml", "name: two\nsources: [two/k.cu]\n");
  world.files.add_file("/project/many/two/k.cu", "");
  world.files.add_file("/project/many/notes/readme.md", "");
  world.settings.pack = {"many", "--pack"};
  CHECK(world.registry().names() == std::vector<std::string>{"two"});
}

TEST_CASE("a pack's own name comes before a folder of that name") {
  PackWorld world;
  world.files.add_file("/project/native/op.yaml", "broken: [\n");
  CHECK(world.registry().spec_root == "/data/ops/native");
}

TEST_CASE("pack.yaml is read as strictly as a spec") {
  PackWorld world;
  const auto error = [&](const std::string& text) {
    world.files.add_file("/data/ops/native/pack.yaml", text);
    return world.error();
  };
  CHECK(error("nme: x\n") ==
        "bad_spec ops/native/pack.yaml:1:1: unknown key 'nme' in the pack (did you mean 'name'?) "
        "| Keys of the pack: name, source_root, version, package, package_root, version_file, license, urls, "
        "hipify, pass_environment, defaults, "
        "ops.");
  CHECK(error("pass_environment: [A*, B=1]\n")
            .starts_with(
                "bad_spec ops/native/pack.yaml:1:24: 'pass_environment': 'B=1' is not a name of a variable"));
  CHECK(error("hipify: yes\n") ==
        "bad_spec ops/native/pack.yaml:1:9: 'hipify': 'yes' is neither true nor false");
  CHECK(error("source_root: /etc\n") ==
        "bad_spec ops/native/pack.yaml:1:14: 'source_root': '/etc' is not relative to the pack's folder");
  CHECK(
      error("source_root: ../../kernel\n") ==
      "missing_source ops/native/pack.yaml:1:14: the source root is not a folder | Looked for /data/kernel. "
      "--source "
      "DIR names another.");
  CHECK(error("source_root: ../../kernels\npackage: kit\n") ==
        "bad_spec ops/native/pack.yaml:2:10: 'package' and 'source_root' both say where the sources are | "
        "Keep one "
        "of them.");
  CHECK(error("version: newest\n") ==
        "bad_spec ops/native/pack.yaml:1:10: 'version': 'newest' is not a version (as in 0.19.8 or "
        "2.3.2.post1)");
}

TEST_CASE("ops may stand in pack.yaml, and what many say in its defaults") {
  PackWorld world;
  world.files.add_file("/data/kernels/b.cu", "");
  world.files.add_file("/data/ops/native/pack.yaml", R"(source_root: ../../kernels
version: 2.3.2.post1
defaults:
  archs: {min: 8.0}
  flags: {cxx: [-O3], nvcc: [-O3]}
  defines: {WITH_PYTHON: , LEVEL: 1}
  std: {cxx: 17}
ops:
  scatter_cuda:
    sources: [a.cu]
    flags: {nvcc: [-lineinfo]}
    defines: {LEVEL: 2, WITH_CUDA: }
  scatter_cpu: {backend: cpu, sources: [a.cpp], std: {cxx: 20}}
)");
  const Registry registry = world.registry();
  CHECK(registry.names() ==
        std::vector<std::string>{"cpu_adam", "fused_adam", "scatter_cpu", "scatter_cuda"});
  CHECK(registry.source_version.text() == "2.3.2");
  const OpSpec& cuda = registry.find("scatter_cuda")->spec();
  CHECK(cuda.file == "/data/ops/native/pack.yaml");
  CHECK(cuda.archs.text() == ">= 8.0");
  CHECK(cuda.std_cxx == 17);
  const auto values = [](const TextEntries& entries) {
    std::vector<std::string> all;
    for (const auto& entry : entries)
      all.push_back(entry.value);
    return all;
  };
  CHECK(values(cuda.flags.nvcc) == std::vector<std::string>{"-O3", "-lineinfo"});
  CHECK(values(cuda.flags.cxx) == std::vector<std::string>{"-O3"});
  std::map<std::string, std::string> defines;
  for (const auto& define : cuda.defines)
    defines.insert(define.value);
  CHECK(defines ==
        std::map<std::string, std::string>{{"LEVEL", "2"}, {"WITH_CUDA", ""}, {"WITH_PYTHON", ""}});
  const OpSpec& cpu = registry.find("scatter_cpu")->spec();
  CHECK(cpu.archs.empty());
  CHECK(cpu.std_cxx == 20);
  CHECK(registry.find("fused_adam")->spec().archs.text() == ">= 8.0");
}

TEST_CASE("what is wrong in defaults is said of pack.yaml, whichever op has them") {
  PackWorld world;
  const auto error = [&](const std::string& text) {
    world.files.add_file("/data/ops/native/pack.yaml", "source_root: ../../kernels\n" + text);
    return world.error();
  };
  CHECK(error("defaults: {flags: {nvcc: [-o]}}\n") ==
        "bad_spec ops/native/pack.yaml:2:27: 'flags.nvcc': '-o' is not on the list of what flags.nvcc may "
        "hold");
  CHECK(error("defaults: {name: x}\n").starts_with("bad_spec ops/native/pack.yaml:2:12: unknown key 'name'"));
  CHECK(error("ops: {x: {name: y}}\n") ==
        "bad_spec ops/native/pack.yaml:2:17: an op's name in 'ops' is its key: 'name' says it twice | Leave "
        "'name' out.");
  CHECK(error("ops: {X: {sources: [a.cu]}}\n")
            .starts_with("bad_spec ops/native/pack.yaml:2:7: 'name': 'X' is not a valid op"));
  CHECK(error("ops: [x]\n") ==
        "bad_spec ops/native/pack.yaml:2:6: 'ops' takes a map of names to what their op.yaml would hold");
  CHECK(error("ops: {x: y}\n") == "bad_spec ops/native/pack.yaml:2:7: 'ops.x' takes a map, as op.yaml is");
  CHECK(error("ops: {fused_adam: {sources: [a.cu]}}\n") ==
        "bad_spec ops/native/fused_adam/op.yaml: the op name 'fused_adam' is taken by ops/native/pack.yaml | "
        "Rename one of the two.");
}

TEST_CASE("a pack's version decides which sources are looked for") {
  PackWorld world;
  world.add("native/old", "name: old\nsources: [a.cu, {path: gone.cu, when: {source: \"<0.19.8\"}}]\n");
  const auto pack = [&](const std::string& version) {
    world.files.add_file("/data/ops/native/pack.yaml",
                         "source_root: ../../kernels\nversion: " + version + "\n");
  };
  pack("0.19.8");
  CHECK(world.registry().source_version.text() == "0.19.8");
  pack("0.19.6");
  CHECK(world.error() ==
        "missing_source ops/native/old/op.yaml:2:24: 'gone.cu' is not there | Paths are relative to "
        "the pack's source root, /data/kernels.");
}

// A pack whose sources are the Python package `kit`, and one op of them.
struct PackageWorld : PackWorld {
  PackageWorld() {
    files.add_file("/data/ops/kit/pack.yaml", "package: kit\nversion_file: version.txt\n");
    add("kit/k", "name: k\nsources: [kit/k.cu]\n");
    settings.pack = {"kit", "--pack"};
  }
  void add_sources(const Path& root) {
    files.add_file(root / "kit/__init__.py", "");
    files.add_file(root / "kit/k.cu", "");
  }
  void give(const std::string& source) { settings.source = {source, "--source"}; }
};

TEST_CASE("a pack of a Python package takes a source tree, a folder of packages or the package itself") {
  PackageWorld world;
  world.add_sources("/tree");
  world.files.add_file("/tree/version.txt", "0.19.8 \n");
  world.add_sources("/venv/lib/python3.11/site-packages");
  world.files.add_file("/venv/lib/python3.11/site-packages/kit-0.19.6.dist-info/METADATA", "");
  const auto check = [&](const std::string& source, const std::string& root, const std::string& version) {
    INFO(source);
    world.give(source);
    CHECK(world.registry().source_root == root);
    CHECK(world.registry().source_version.text() == version);
  };
  check("/tree", "/tree", "0.19.8");
  check("/tree/kit/", "/tree", "0.19.8");
  check("/venv/lib/python3.11/site-packages", "/venv/lib/python3.11/site-packages", "0.19.6");
  check("/venv/lib/python3.11/site-packages/kit", "/venv/lib/python3.11/site-packages", "0.19.6");
}

TEST_CASE("a package that pip installed without `wheel` says its version too") {
  PackageWorld world;
  world.add_sources("/site");
  world.files.add_file("/site/kit-0.19.8-py3.11.egg-info/PKG-INFO", "");
  world.give("/site");
  CHECK(world.registry().source_version.text() == "0.19.8");
}

TEST_CASE("without --source the installed package is found") {
  PackageWorld world;
  world.environment["VIRTUAL_ENV"] = "/venv";
  world.files.add_directory("/venv/lib/python3.12/site-packages");
  world.add_sources("/venv/lib/python3.11/site-packages");
  world.files.add_file("/venv/lib/python3.11/site-packages/kit_more-9.dist-info/METADATA", "");
  world.files.add_file("/venv/lib/python3.11/site-packages/kit-0.19.8.dist-info/METADATA", "");
  CHECK(world.registry().source_root == "/venv/lib/python3.11/site-packages");
  CHECK(world.registry().source_version.text() == "0.19.8");
}

TEST_CASE("--python says whose packages are looked at") {
  PackageWorld world;
  world.environment["VIRTUAL_ENV"] = "/venv";
  for (const std::string prefix : {"/venv", "/other"}) {
    world.add_sources(prefix + "/lib/python3.11/site-packages");
    world.files.add_file(prefix + "/lib/python3.11/site-packages/kit-1.0.dist-info/METADATA", "");
  }
  world.files.add_file("/other/bin/python", "", true);
  world.settings.python = {"/other/bin/python", "--python"};
  CHECK(world.registry().source_root == "/other/lib/python3.11/site-packages");
}

TEST_CASE("a Python package that is not installed is an error that says where it was looked for") {
  PackageWorld world;
  world.environment["VIRTUAL_ENV"] = "/venv";
  world.files.add_directory("/venv/lib/python3.12/site-packages");
  const auto loaded = load_registry_of(world.settings, world.files, world.environment);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().exit == Exit::unmet);
  CHECK(error_text(loaded.error()) ==
        "no_package --source: pack 'kit' builds the sources of the Python package 'kit', and it is not "
        "installed "
        "| Install it, name the Python that has it (--python), or give its sources: --source DIR (an "
        "unpacked source "
        "distribution or a checkout).\n"
        "Looked in:\n  /venv/lib/python3.12/site-packages");
}

TEST_CASE("a --source that is not the package's, or tells no version, is refused") {
  PackageWorld world;
  world.files.add_directory("/empty");
  world.give("/empty");
  CHECK(world.error() ==
        "missing_source --source: the Python package 'kit' is not in /empty | Give an unpacked source "
        "distribution, a checkout, or the folder of the installed package.");
  world.add_sources("/tree");
  world.give("/tree");
  CHECK(
      world.error() ==
      "missing_source --source: the version of the sources is not to be found | Looked for /tree/version.txt "
      "and kit-<version>.dist-info next to it.");
  world.files.add_file("/tree/version.txt", "unknown\n");
  CHECK(world.error().find("the version of the sources is not to be found") != std::string::npos);
}

TEST_CASE("an op that other versions of the sources have is not there, and none of its files is looked for") {
  PackageWorld world;
  world.add_sources("/tree");
  world.add("kit/old", "name: old\nwhen: {source: \"<0.19.8\"}\nsources: [kit/gone.cu]\n");
  world.give("/tree");
  world.files.add_file("/tree/version.txt", "0.19.8\n");
  CHECK(world.registry().names() == std::vector<std::string>{"k"});
  world.files.add_file("/tree/version.txt", "0.19.6\n");
  CHECK(world.error().find("missing_source ops/kit/old/op.yaml:3:11: 'kit/gone.cu' is not there") == 0);
}

TEST_CASE("an op's own 'when' asks for sources, torch and accelerator alone") {
  CHECK(SpecWorld().error("name: x\nwhen: [{torch: \">=2\"}, {cuda: \">=13\"}]\nsources: [a.cu]\n") ==
        "bad_spec x/op.yaml:2:25: unknown key 'cuda' in 'when' of an op | Keys of 'when' of an op: source, "
        "torch, accelerator.");
  CHECK(SpecWorld().error("name: x\nwhen: {accelerator: gpu}\nsources: [a.cu]\n") ==
        "bad_spec x/op.yaml:2:21: 'when.accelerator': 'gpu' is not an accelerator that dsbuild builds for "
        "(cuda, "
        "cpu)");
}

TEST_CASE("offered are the ops whose 'when' holds; the others are absent, with what they are for") {
  PackWorld world;
  world.add("native/old", "name: old\nwhen: {torch: \"<2.0\", accelerator: cuda}\nsources: [a.cu]\n");
  world.add("native/comm", "name: comm\nwhen: {accelerator: cpu}\nbackend: cpu\nsources: [a.cpp]\n");
  const Registry offered = offer_ops(world.registry(), *parse_version("2.11.0"), "cuda");
  CHECK(offered.names() == std::vector<std::string>{"cpu_adam", "fused_adam"});
  CHECK(offered.absent ==
        std::vector<AbsentOp>{{"comm", "DS_BUILD_COMM", "accelerator cuda", "DS_ACCELERATOR=cpu"},
                              {"old", "DS_BUILD_OLD", "torch 2.11.0", "torch <2.0 and DS_ACCELERATOR=cuda"}});
  CHECK(offer_ops(world.registry(), *parse_version("1.13"), "cuda").find("old"));
  CHECK(offer_ops(world.registry(), {}, "cpu").find("comm"));
}

TEST_CASE("an op is offered where one map of its 'when' holds") {
  PackWorld world;
  world.add("native/x",
            "name: x\nwhen: [{accelerator: cuda}, {torch: \">=2.4\"}]\nbackend: cpu\nsources: [a.cpp]\n");
  CHECK(offer_ops(world.registry(), {}, "cuda").find("x"));
  CHECK(offer_ops(world.registry(), *parse_version("2.4"), "cpu").find("x"));
  CHECK_FALSE(offer_ops(world.registry(), *parse_version("2.3"), "cpu").find("x"));
}

TEST_CASE("two accelerators may have an op of one name each, and no more") {
  PackWorld world;
  world.add("native/here", "name: x\nwhen: {accelerator: cuda}\nsources: [a.cu]\n");
  world.add("native/there", "name: x\nwhen: {accelerator: cpu}\nbackend: cpu\nsources: [a.cpp]\n");
  CHECK(offer_ops(world.registry(), {}, "cuda").find("x")->spec().backend == BackendKind::cuda);
  CHECK(offer_ops(world.registry(), {}, "cpu").find("x")->spec().backend == BackendKind::cpu);
  world.add("native/twin", "name: x\nwhen: {accelerator: cpu}\nbackend: cpu\nsources: [a.cpp]\n");
  CHECK(world.error() ==
        "bad_spec ops/native/twin/op.yaml: the op name 'x' is taken by ops/native/there/op.yaml | Rename one "
        "of "
        "the two.");
}

TEST_CASE("what needs an absent op is absent too") {
  PackWorld world;
  world.add("native/pin", "name: pin\nwhen: {accelerator: cuda}\nbackend: cpu\nsources: [a.cpp]\n");
  world.add("native/aio", "name: aio\nneeds: [pin]\nbackend: cpu\nsources: [a.cpp]\n");
  world.add("native/gds", "name: gds\nneeds: [aio]\nbackend: cpu\nsources: [a.cpp]\n");
  const Registry offered = offer_ops(world.registry(), {}, "cpu");
  CHECK(offered.names() == std::vector<std::string>{"cpu_adam", "fused_adam"});
  CHECK(offered.find_absent("DS_BUILD_GDS")->is_for == "DS_ACCELERATOR=cuda");
}

TEST_CASE("two ops may share neither a name nor a build variable") {
  PackWorld world;
  world.add("native/twin", "name: fused_adam\nsources: [a.cu]\n");
  CHECK(world.error() ==
        "bad_spec ops/native/twin/op.yaml: the op name 'fused_adam' is taken by "
        "ops/native/fused_adam/op.yaml | Rename one of the two.");
  world.add("native/twin", "name: other\nbuild_var: DS_BUILD_CPU_ADAM\nsources: [a.cu]\n");
  CHECK(world.error() ==
        "bad_spec ops/native/twin/op.yaml: the build variable 'DS_BUILD_CPU_ADAM' is taken by "
        "ops/native/cpu_adam/op.yaml | Rename one of the two.");
}

TEST_CASE("a variable that no op has is looked up in the other packs") {
  PackWorld world;
  world.add("deepspeed/cpu_lion", "name: cpu_lion\nsources: [not/there.cpp]\n");
  world.add("deepspeed/async_io", "name: async_io\nbuild_var: DS_BUILD_AIO\nsources: [not/there.cpp]\n");
  world.add("deepspeed/broken", "name: [\n");
  world.settings.selection.variables = {{"DS_BUILD_CPU_LION", Switch::on},
                                        {"DS_BUILD_AIO", Switch::off},
                                        {"DS_BUILD_FUSED_ADAM", Switch::on},
                                        {"DS_BUILD_NOWHERE", Switch::on}};
  CHECK(world.registry().other_packs ==
        std::map<std::string, std::vector<std::string>>{{"DS_BUILD_AIO", {"deepspeed"}},
                                                        {"DS_BUILD_CPU_LION", {"deepspeed"}}});
}

TEST_CASE("what an op needs is another op of the pack") {
  PackWorld world;
  world.add("native/gds", "name: gds\nsources: [a.cu]\nneeds: [cpu_adm]\n");
  CHECK(world.error() ==
        "bad_spec ops/native/gds/op.yaml:3:9: 'needs': no op 'cpu_adm' in pack 'native' (did you mean "
        "'cpu_adam'?)");
  world.add("native/gds", "name: gds\nsources: [a.cu]\nneeds: [gds]\n");
  CHECK(world.error() == "bad_spec ops/native/gds/op.yaml:3:9: 'needs': the op needs itself");
}

TEST_CASE("the native pack of this repository loads") {
  const auto files = make_real_file_system();
  Settings settings;
  settings.data_dir = Path(DSBUILD_TESTS_DIR).parent_path();
  const auto registry = load_registry_of(settings, *files);
  if (!registry) FAIL(registry.error().where << ": " << registry.error().what);
  CHECK(registry->source_root == settings.data_dir / "kernels");
  for (const char* name : {"cpu_adam", "fp_quantizer", "fused_adam"})
    CHECK(registry->find(name));
  CHECK(registry->find("fp_quantizer")->spec().archs.text() == ">= 8.0");
}

TEST_CASE("a thousand generated specs load, each as written") {
  PackWorld world;
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    world.add("native/op_" + number, "name: op_" + number + "\nsources: [a.cu, {path: a.cpp, for: {N: [" +
                                         number + ", x]}}]\ndefines: {ID: " + number +
                                         "}\nflags: {nvcc: [-lineinfo, --maxrregcount=64], cxx: [-O3]}\n");
  }
  const Registry registry = world.registry();
  REQUIRE(registry.ops.size() == 1002);
  for (int i = 0; i < 1000; ++i) {
    const OpBuilder* op = registry.find("op_" + std::to_string(i));
    REQUIRE(op);
    REQUIRE(op->spec().defines[0].value.second == std::to_string(i));
    REQUIRE(op->spec().sources.size() == 3);
  }
}

}  // namespace
}  // namespace dsbuild
