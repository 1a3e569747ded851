// One row per rule: the spec, and the whole message with its position.
#include "spec_world.h"

namespace dsbuild {
namespace {

struct WrongSpec {
  std::string text;  // behind "name: x\nsources: [a.cu]\n", so that its first line is line 3
  std::string error;
};

void check_rows(const std::vector<WrongSpec>& rows) {
  const SpecWorld world;
  for (const WrongSpec& row : rows) {
    INFO(row.text);
    CHECK(world.error("name: x\nsources: [a.cu]\n" + row.text) == row.error);
  }
}

TEST_CASE("an unknown key is an error with the nearest key and those there are") {
  const SpecWorld world;
  CHECK(world.error("name: x\nsorces: [a.cu]\n") ==
        "bad_spec x/op.yaml:2:1: unknown key 'sorces' in the op spec (did you mean 'sources'?) | Keys of the "
        "op spec: "
        "name, build_var, module, module_suffix, description, when, backend, backends, unsupported, archs, "
        "needs, sources, "
        "include_dirs, "
        "defines, "
        "std, "
        "flags, "
        "libraries, undefined_symbols, requires, exports.");
  check_rows({
      {"archs: {mim: 8.0}",
       "bad_spec x/op.yaml:3:9: unknown key 'mim' in 'archs' (did you mean 'min'?) | Keys of 'archs': min, "
       "max, only, "
       "exclude, specialise."},
      {"std: {cpp: 17}",
       "bad_spec x/op.yaml:3:7: unknown key 'cpp' in 'std' | Keys of 'std': cxx, nvcc, hip, sycl."},
      {"flags: {ld: []}",
       "bad_spec x/op.yaml:3:9: unknown key 'ld' in 'flags' | Keys of 'flags': cxx, nvcc, hip, sycl, link."},
      {"defines: {A: {valu: 1}}",
       "bad_spec x/op.yaml:3:15: unknown key 'valu' in 'defines.A' (did you mean 'value'?) | Keys of "
       "'defines.A': "
       "value, when, feature."},
      {"exports: [{value: f, when: {arch: 8.0}}]",
       "bad_spec x/op.yaml:3:29: unknown key 'arch' in 'when' | Keys of 'when': any_arch, every_arch, cuda, "
       "rocm, torch, "
       "source, cpu, cpu_level, accelerator."},
      {"requires: [{cuda: \">=11\", hnt: x}]",
       "bad_spec x/op.yaml:3:27: unknown key 'hnt' in a requirement (did you mean 'hint'?) | Keys of a "
       "requirement: "
       "cuda, header, library, folder, command, cpu, module, tvm_ffi, torch, cutlass, source, function, "
       "root, "
       "package, in, for, lacks, because, hint, when."},
      {"requires: [{cpu: avx2, hint: {brew: x}}]",
       "bad_spec x/op.yaml:3:31: unknown key 'brew' in 'hint' | Keys of 'hint': apt, dnf, pacman, zypper, "
       "apk."},
  });
}

TEST_CASE("a value of the wrong type is an error that names the type it takes") {
  const SpecWorld world;
  CHECK(world.error("- name\n") == "bad_spec x/op.yaml:1:1: the op spec takes a map, not a list");
  CHECK(world.error("name: [x]\nsources: [a.cu]\n") ==
        "bad_spec x/op.yaml:1:7: 'name' takes one word, not a list");
  CHECK(world.error("name: x\nsources: a.cu\n") ==
        "bad_spec x/op.yaml:2:10: 'sources' takes a list, not one word");
  CHECK(world.error("name: x\nsources: [[a.cu]]\n") ==
        "bad_spec x/op.yaml:2:11: a source takes a map, not a list");
  check_rows({
      {"archs: [8.0]", "bad_spec x/op.yaml:3:8: 'archs' takes a map, not a list"},
      {"archs: {only: 9.0a}", "bad_spec x/op.yaml:3:15: 'archs.only' takes a list, not one word"},
      {"defines: [A]", "bad_spec x/op.yaml:3:10: 'defines' takes a map of names to values"},
      {"defines: {A: [1]}", "bad_spec x/op.yaml:3:14: 'defines.A' takes one word, not a list"},
      {"flags: [-O3]", "bad_spec x/op.yaml:3:8: 'flags' takes a map, not a list"},
      {"flags: {cxx: -O3}", "bad_spec x/op.yaml:3:14: 'flags.cxx' takes a list, not one word"},
      {"exports: f", "bad_spec x/op.yaml:3:10: 'exports' takes a list, not one word"},
      {"requires: {cuda: \">=11\"}", "bad_spec x/op.yaml:3:11: 'requires' takes a list, not a map"},
      {"requires: [cuda]", "bad_spec x/op.yaml:3:12: a requirement takes a map, not one word"},
      {"requires: [{cuda: [1]}]",
       "bad_spec x/op.yaml:3:19: 'requires.cuda' takes a version range, not a list"},
      {"exports: [{when: {cpu: x86_64}}]", "bad_spec x/op.yaml:3:11: an entry of 'exports' needs a 'value'"},
      {"std: 17", "bad_spec x/op.yaml:3:6: 'std' takes a map, not one word"},
  });
}

TEST_CASE("names keep to the rules of what they become") {
  const SpecWorld world;
  for (const std::string& bad :
       std::vector<std::string>{"Fused", "1x", "_x", "a-b", "a.b", "'a b'", "../x", std::string(65, 'a')}) {
    INFO(bad);
    CHECK(world.error("name: " + bad + "\nsources: [a.cu]\n").find("is not a valid op name") !=
          std::string::npos);
  }
  CHECK(world.error("sources: [a.cu]\n") == "bad_spec x/op.yaml:1:1: the op has no 'name'");
  CHECK(world.error("name: x\n") == "bad_spec x/op.yaml:1:1: the op has no 'sources'");
  CHECK(world.error("name: ops\nsources: [a.cu]\n") ==
        "bad_spec x/op.yaml:1:7: the build variable 'DS_BUILD_OPS' has a meaning of its own | Give the op a "
        "'build_var'.");
  check_rows({
      {"build_var: BUILD_X",
       "bad_spec x/op.yaml:3:12: 'build_var': 'BUILD_X' is not a build variable: DS_BUILD_ and then A-Z, 0-9 "
       "and '_'"},
      {"build_var: DS_BUILD_STRING",
       "bad_spec x/op.yaml:3:12: 'build_var': 'DS_BUILD_STRING' has a meaning of its own"},
      {"module: a\nmodule_suffix: .dll",
       "bad_spec x/op.yaml:4:16: 'module_suffix': '.dll' is not a suffix of modules: .so, .abi3.so"},
      {"module_suffix: .so",
       "bad_spec x/op.yaml:3:16: 'module_suffix' is of a module, and the op is none | Name the 'module'."},
      {"module: a\nundefined_symbols: ignore",
       "bad_spec x/op.yaml:4:20: 'undefined_symbols': 'ignore' is neither 'error' nor 'warn'"},
      {"undefined_symbols: warn",
       "bad_spec x/op.yaml:3:20: 'undefined_symbols' is of a module, and the op is none | Name the "
       "'module'."},
      {"module: a..b",
       "bad_spec x/op.yaml:3:9: 'module': 'a..b' is not a Python module (identifiers joined by dots)"},
      {"backend: cdua",
       "bad_spec x/op.yaml:3:10: 'backend': 'cdua' is not a backend (did you mean 'cuda'?); there are cuda, "
       "cpu, hip, sycl"},
      {"backend: cda",
       "bad_spec x/op.yaml:3:10: 'backend': 'cda' is not a backend (did you mean 'cuda'?); there are cuda, "
       "cpu, "
       "hip, sycl"},
      {"exports: [a-b]",
       "bad_spec x/op.yaml:3:11: 'exports': 'a-b' is not an identifier (letters, digits and '_')"},
      {"needs: [A]",
       "bad_spec x/op.yaml:3:9: 'needs': 'A' is not a valid op name. A name has a lower-case letter first, "
       "then "
       "up to 63 of a-z, 0-9 "
       "and '_'"},
      {"defines: {1A: 1}",
       "bad_spec x/op.yaml:3:11: 'defines': '1A' is not an identifier (letters, digits and '_')"},
      {"defines: {A: $(id)}",
       "bad_spec x/op.yaml:3:14: 'defines.A': '$(id)' has the character '$': nvcc hands its arguments on "
       "through a shell"},
      {"defines: {A: \"f(a,b)\"}",
       "bad_spec x/op.yaml:3:14: 'defines.A': 'f(a,b)' has a comma outside of quotes, where nvcc ends a "
       "define"},
      {"defines: {A: '\"a'}", "bad_spec x/op.yaml:3:14: 'defines.A': '\"a' has a quote that does not end"},
      {"libraries: [-laio]",
       "bad_spec x/op.yaml:3:13: 'libraries': '-laio' is not a library name (write 'aio' for libaio.so)"},
      {"std: {cxx: 98}",
       "bad_spec x/op.yaml:3:12: 'std.cxx': '98' is not a C++ standard here; choose 14, 17, 20, 23"},
      {"description: \"a\\nb\"",
       "bad_spec x/op.yaml:3:14: 'description': 'a\nb' is not one line of plain text"},
  });
}

TEST_CASE("architectures and conditions keep to their small languages") {
  check_rows({
      {"archs: {min: sm_80}",
       "bad_spec x/op.yaml:3:14: 'archs.min': 'sm_80' is not a compute capability (as in 8.0)"},
      {"archs: {only: [9.0b]}",
       "bad_spec x/op.yaml:3:16: 'archs.only': '9.0b' is not an architecture (as in 8.0, 9.0a, 8.0-real or "
       "8.0-virtual)"},
      {"archs: {only: []}", "bad_spec x/op.yaml:3:15: 'archs.only' is empty"},
      {"archs: {specialise: [9.0]}",
       "bad_spec x/op.yaml:3:21: 'archs.specialise': '9.0' has no suffix a or f"},
      {"archs: {specialise: [9.0a, 9.0f]}",
       "bad_spec x/op.yaml:3:21: 'archs.specialise' gives two forms of 9.0: 9.0a and 9.0f"},
      {"archs: {min: 9.0, max: 8.0}",
       "bad_spec x/op.yaml:3:8: 'archs': min is above max, so nothing is left"},
      {"backend: cpu\narchs: {min: 8.0}", "bad_spec x/op.yaml:4:8: 'archs' means nothing for a cpu op"},
      {"exports: [{value: f, when: {}}]", "bad_spec x/op.yaml:3:28: 'when' is empty"},
      {"exports: [{value: f, when: {any_arch: many}}]",
       "bad_spec x/op.yaml:3:39: 'when.any_arch': 'many' is not a condition (as in >=8.0, <9.0, ==8.0 or "
       "9.0a)"},
      {"exports: [{value: f, when: {cpu: i386}}]",
       "bad_spec x/op.yaml:3:34: 'when.cpu': 'i386' is not a CPU that dsbuild knows (x86_64, aarch64)"},
  });
}

TEST_CASE("backends, and archs for each of them, are read with their places") {
  check_rows({
      {"backends: []", "bad_spec x/op.yaml:3:11: 'backends' is empty"},
      {"backends: [hip, hip]", "bad_spec x/op.yaml:3:11: 'backends' names a backend twice"},
      {"backends: [cuda, rocm]",
       "bad_spec x/op.yaml:3:18: 'backends': 'rocm' is not a backend; there are cuda, cpu, hip, sycl"},
      {"backends: [cuda, cpu]",
       "bad_spec x/op.yaml:3:11: 'backends': cpu stands alone | Make an op of its own for the CPU."},
      {"backend: cuda\nbackends: [hip]", "bad_spec x/op.yaml:4:11: 'backends' lacks the op's own, cuda"},
      {"archs: {hip: {only: [gfx90a]}}",
       "bad_spec x/op.yaml:3:9: unknown key 'hip' in 'archs' of an op for cuda | Keys of 'archs' of an op "
       "for cuda: cuda."},
      {"backends: [cuda, hip]\narchs: {hip: {only: [8.0]}}",
       "bad_spec x/op.yaml:4:22: 'archs.hip.only': '8.0' is not an architecture of hip (as in gfx90a, "
       "gfx90a:xnack+ or "
       "gfx9-4-generic)"},
      {"backends: [cuda, hip]\narchs: {hip: {only: [gfx90b]}}",
       "bad_spec x/op.yaml:4:22: 'archs.hip.only': 'gfx90b' is not an architecture (as in gfx90a, "
       "gfx90a:xnack+ "
       "or "
       "gfx9-4-generic)"},
      {"archs: {only: [gfx90a]}",
       "bad_spec x/op.yaml:3:16: 'archs.only': 'gfx90a' is not an architecture of cuda (as in 8.0, 9.0a, "
       "8.0-real or "
       "8.0-virtual)"},
      {"backend: hip\narchs: {min: gfx90a}",
       "bad_spec x/op.yaml:4:14: 'archs.min' means nothing for hip | Its GPUs have no order in which each "
       "can what "
       "the ones before it can: list them in 'only'."},
      {"backend: hip\narchs: {specialise: [gfx90a]}",
       "bad_spec x/op.yaml:4:21: 'archs.specialise': 'gfx90a' has no feature"},
      {"flags: {hip: [--offload-arch=gfx90a]}",
       "bad_spec x/op.yaml:3:15: 'flags.hip': '--offload-arch=gfx90a' names an architecture; those come from "
       "--arch "
       "and the archs key"},
  });
}

TEST_CASE("a source of a backend that cannot compile it is an error at the source") {
  SpecWorld world;
  for (const char* path : {"h.hip", "s.sycl.cpp"})
    world.files.add_file(Path("/src") / path, "");
  const auto error = [&](const std::string& text) { return world.error("name: x\n" + text); };
  const std::string fix = " | Set 'backend' of the op, or of this source; or leave the source out.";
  CHECK(error("sources: [h.hip]") == "bad_spec x/op.yaml:2:11: 'h.hip' is a HIP source of a cuda op" + fix);
  CHECK(error("sources: [s.sycl.cpp]") ==
        "bad_spec x/op.yaml:2:11: 's.sycl.cpp' is a SYCL source of a cuda op" + fix);
  CHECK(error("backends: [cuda, sycl]\nsources: [a.cu]") ==
        "bad_spec x/op.yaml:3:11: 'a.cu' is a CUDA source of a sycl op" + fix);
  CHECK(error("sources: [{path: b.cpp, backend: hip}]") ==
        "bad_spec x/op.yaml:2:18: 'b.cpp' is for hip, and the op is not | Set 'backends' of the op, with hip "
        "in it.");
}

TEST_CASE("a flag off the list is an error with its position and reason") {
  check_rows({
      {"flags: {cxx: [-O3, -march=native]}",
       "bad_spec x/op.yaml:3:20: 'flags.cxx': '-march=native' makes the bundle depend on the machine that "
       "builds it; -march=baseline is what --cpu-baseline says"},
      {"flags: {nvcc: [{value: -o, when: {cpu: x86_64}}]}",
       "bad_spec x/op.yaml:3:24: 'flags.nvcc': '-o' is not on the list of what flags.nvcc may hold"},
      {"flags: {link: [-laio]}",
       "bad_spec x/op.yaml:3:16: 'flags.link': '-laio' is the libraries key's business"},
      {"flags: {cxx: [-O3, -g, -O3]}",
       "bad_spec x/op.yaml:3:24: 'flags.cxx': '-O3' stands twice | The other is at x/op.yaml:3:15."},
  });
}

TEST_CASE("a requirement is of exactly one kind and complete") {
  check_rows({
      {"requires: [{hint: x}]",
       "bad_spec x/op.yaml:3:12: a requirement needs one of cuda, header, library, folder, command, cpu, "
       "module, tvm_ffi, torch, cutlass, source"},
      {"requires: [{cuda: \">=11\", cpu: avx2}]",
       "bad_spec x/op.yaml:3:12: a requirement is of one kind, not both 'cuda' and 'cpu'"},
      {"requires: [{cpu: avx2, root: CCL_ROOT}]",
       "bad_spec x/op.yaml:3:30: 'root' goes with 'header' and 'library' only"},
      {"requires: [{library: ccl, root: a/b}]",
       "bad_spec x/op.yaml:3:33: 'requires.root': 'a/b' is not an identifier (letters, digits and '_')"},
      {"requires: [{library: ccl, package: ../x}]",
       "bad_spec x/op.yaml:3:36: 'requires.package': '../x' leaves the source root ('..')"},
      {"requires: [{cpu: avx2, function: f}]",
       "bad_spec x/op.yaml:3:34: 'function' goes with 'library' only"},
      {"requires: [{source: a.cu, because: it is}]",
       "bad_spec x/op.yaml:3:12: a requirement with 'source' needs 'lacks'"},
      {"requires: [{source: a.cu, lacks: x}]",
       "bad_spec x/op.yaml:3:12: a requirement with 'source' needs 'because'"},
      {"requires: [{header: a.h, lacks: x}]", "bad_spec x/op.yaml:3:33: 'lacks' goes with 'source' only"},
      {"requires: [{source: ../a.cu, lacks: x, because: it is}]",
       "bad_spec x/op.yaml:3:21: 'requires.source': '../a.cu' leaves the source root ('..')"},
      {"requires: [{source: gone.cu, lacks: x, because: it is}]",
       "missing_source x/op.yaml:3:21: 'gone.cu' is not there | Paths are relative to the pack's source "
       "root, /src."},
      {"requires: [{command: /bin/sh}]",
       "bad_spec x/op.yaml:3:22: 'requires.command': '/bin/sh' is not a command name (a program looked up on "
       "PATH)"},
      {"requires: [{command: []}]", "bad_spec x/op.yaml:3:22: 'requires.command' is empty"},
      {"requires: [{header: /etc/passwd}]",
       "bad_spec x/op.yaml:3:21: 'requires.header': '/etc/passwd' is absolute; paths are relative to the "
       "source root"},
      {"requires: [{cpu: AVX2}]",
       "bad_spec x/op.yaml:3:18: 'requires.cpu': 'AVX2' is not a CPU feature (as in /proc/cpuinfo, e.g. "
       "avx2)"},
      {"requires: [{module: os;id}]",
       "bad_spec x/op.yaml:3:21: 'requires.module': 'os;id' is not a Python module (identifiers joined by "
       "dots)"},
  });
  const std::string error = SpecWorld().error("name: x\nsources: [a.cu]\nrequires: [{cuda: newest}]\n");
  CHECK(error.rfind("bad_version_range x/op.yaml:3:19: ", 0) == 0);
}

TEST_CASE("a required folder is relative to what 'in' says, or absolute and normal") {
  check_rows({
      {"requires: [{folder: include}]",
       "bad_spec x/op.yaml:3:21: 'requires.folder': 'include' is relative, and no 'in' says to what "
       "(packages or python)"},
      {"requires: [{folder: /opt/include, in: python}]",
       "bad_spec x/op.yaml:3:39: 'in' goes with a relative folder only, and '/opt/include' is absolute"},
      {"requires: [{folder: include, in: home}]",
       "bad_spec x/op.yaml:3:34: 'requires.in': 'home' is neither packages nor python"},
      {"requires: [{folder: include, in: python, for: hip}]",
       "bad_spec x/op.yaml:3:47: 'requires.for': 'hip' is neither cxx nor nvcc"},
      {"include_dirs: [{value: include, for: hip}]",
       "bad_spec x/op.yaml:3:38: 'include_dirs.for': 'hip' is neither cxx nor nvcc"},
      {"requires: [{header: a.h, in: python}]", "bad_spec x/op.yaml:3:30: 'in' goes with 'folder' only"},
      {"requires: [{folder: include, header: a.h}]",
       "bad_spec x/op.yaml:3:12: a requirement is of one kind, not both 'header' and 'folder'"},
      {"requires: [{folder: include, in: python, package: a}]",
       "bad_spec x/op.yaml:3:51: 'package' goes with 'header' and 'library' only"},
      {"requires: [{folder: [include], in: python}]",
       "bad_spec x/op.yaml:3:21: 'requires.folder' takes one word, not a list"},
  });
  const SpecWorld world;
  for (const auto& [path, reason] : std::vector<std::pair<std::string, std::string>>{
           {"''", "'' is empty"},
           {"~/include", "'~/include' starts with '~'"},
           {"../x", "'../x' has a part '..'"},
           {"a/../x", "'a/../x' has a part '..'"},
           {"/opt/../x", "'/opt/../x' has a part '..'"},
           {".", "'.' has a part '.'; leave it out"},
           {"/opt/./x", "'/opt/./x' has a part '.'; leave it out"},
           {"/", "'/' has an empty part ('//', or a '/' at its end)"},
           {"//opt", "'//opt' has an empty part ('//', or a '/' at its end)"},
           {"/opt//x", "'/opt//x' has an empty part ('//', or a '/' at its end)"},
           {"/opt/", "'/opt/' has an empty part ('//', or a '/' at its end)"},
           {"\"/a\\tb\"", "'/a\tb' has a control character"},
           {"\"/a\\x7f\"", "'/a' has a control character"},
           {"'/a|b'", "'/a|b' has the character '|'"},
           {"'/a\\b'", "'/a\\b' has the character '\\'"},
           {"'/a$b'", "'/a$b' has the character '$'"},
           {"'/a\"b'", "'/a\"b' has the character '\"'"},
           {"\"/a'b\"", "'/a'b' has the character '''"},
           {"'/a`b'", "'/a`b' has the character '`'"},
           {"'/a*b'", "'/a*b' has the character '*'"},
           {"'/a?b'", "'/a?b' has the character '?'"},
           {"/" + std::string(256, 'a'), "'/" + std::string(256, 'a') + "' has a part of over 255 bytes"}}) {
    INFO(path);
    CHECK(world.error("name: x\nsources: [a.cu]\nrequires: [{folder: " + path + "}]\n") ==
          "bad_spec x/op.yaml:3:21: 'requires.folder': " + reason);
  }
}

TEST_CASE("sources are files that are there, each once") {
  const SpecWorld world;
  const auto error = [&](const std::string& sources) {
    return world.error("name: x\nsources: " + sources + "\n");
  };
  CHECK(error("[a.cu, gone.cu]") ==
        "missing_source x/op.yaml:2:17: 'gone.cu' is not there | Paths are relative to the pack's source "
        "root, /src.");
  CHECK(error("[{glob: none/*.cu}]") ==
        "missing_source x/op.yaml:2:18: no file matches 'none/*.cu' | Globs are relative to the pack's "
        "source root, /src.");
  CHECK(error("[a.cu, {glob: \"*.cu\"}]") ==
        "bad_spec x/op.yaml:2:17: 'sources': 'a.cu' stands twice | The other is at x/op.yaml:2:11.");
  CHECK(error("[]") == "bad_spec x/op.yaml:2:10: 'sources' is empty");
  CHECK(error("[{archs: {min: 8.0}}]") == "bad_spec x/op.yaml:2:11: a source needs either 'path' or 'glob'");
  CHECK(error("[{path: a.cu, glob: b*}]") ==
        "bad_spec x/op.yaml:2:11: a source needs either 'path' or 'glob'");
  CHECK(
      error("[bwd/note.txt]") ==
      "bad_spec x/op.yaml:2:11: 'sources': 'bwd/note.txt' is not a source file (.cu, .hip, .sycl, .cpp, .cc, "
      ".cxx)");
  CHECK(error("[{glob: bwd/*}]") ==
        "bad_spec x/op.yaml:2:18: 'glob': 'bwd/note.txt' is not a source file (.cu, .hip, .sycl, .cpp, .cc, "
        ".cxx)");
  CHECK(
      error("[{glob: \"a**/*.cu\"}]") ==
      "bad_spec x/op.yaml:2:18: 'glob': 'a**/*.cu' has '**' next to other characters; alone between two '/' "
      "it stands for folders");
  CHECK(
      error("[{glob: \"bwd/**\"}]") ==
      "bad_spec x/op.yaml:2:18: 'glob': 'bwd/**' ends with '**', which stands for folders; add '/*.cu', say");
  CHECK(error("[{path: a.cu, exclude: [b.cpp]}]") == "bad_spec x/op.yaml:2:33: 'exclude' goes with 'glob'");
  CHECK(error("[{glob: bwd/*.cu, exclude: [\"*.cu\"]}]") ==
        "bad_spec x/op.yaml:2:38: 'exclude': '*.cu' matches none of the files that are left of 'glob'");
  CHECK(error("[{glob: bwd/*.cu, exclude: [bwd/three.cu]}]") ==
        "missing_source x/op.yaml:2:38: no file matches 'bwd/three.cu' | Globs are relative to the pack's "
        "source root, /src.");
  CHECK(error("[{glob: bwd/*.cu, exclude: [\"bwd/*.cu\"]}]") ==
        "bad_spec x/op.yaml:2:37: 'exclude' leaves no file of 'glob'");
  CHECK(error("[{path: b.cpp, archs: {min: 8.0}}]") ==
        "bad_spec x/op.yaml:2:18: 'b.cpp' has no device code, so 'archs' means nothing for it");
  CHECK(error("[{path: a.cu, flags: {link: [-s]}}]") ==
        "bad_spec x/op.yaml:2:31: 'flags.link' belongs to the op, not to a source");
  CHECK(error("[{path: a.cu, seconds: soon}]") ==
        "bad_spec x/op.yaml:2:33: 'seconds': 'soon' is not a whole number of seconds");
  CHECK(error("[{path: a.cu, hipify: true}]") ==
        "bad_spec x/op.yaml:2:32: 'hipify' means nothing for an op that is not for hip | Set 'backends: "
        "[cuda, hip]' of the op.");
  for (const std::string threads : {"1", "65", "auto"})
    CHECK(error("[{path: a.cu, split_compile: " + threads + "}]") ==
          "bad_spec x/op.yaml:2:39: 'split_compile': '" + threads +
              "' is not a number of threads from 2 to 64");
  CHECK(error("[{path: a.cu, for: {}}]") ==
        "bad_spec x/op.yaml:2:29: 'for' takes a map of define names to lists of values");
  CHECK(error("[{path: a.cu, for: {A: []}}]") == "bad_spec x/op.yaml:2:33: 'for.A' has no values");
  CHECK(error("[{path: a.cu, for: {A: [1, 1]}}]") ==
        "bad_spec x/op.yaml:2:11: 'sources': 'a.cu,A=1' stands twice | The other is at x/op.yaml:2:11.");
  CHECK(error("[{path: a.cu, for: {A: [1]}}]\ndefines: {A: 2}") ==
        "bad_spec x/op.yaml:2:11: 'A' is set by 'for' and by 'defines' | Keep one of them.");
  CHECK(error("[a.cu]\nbackend: cpu") ==
        "bad_spec x/op.yaml:2:11: 'a.cu' is a CUDA source of a cpu op | Set 'backend: cuda', or leave the "
        "source out.");
  CHECK(error("[a.cu]\ninclude_dirs: [gone]") ==
        "missing_source x/op.yaml:3:16: 'gone' is not there | Paths are relative to the pack's source root, "
        "/src.");
  CHECK(error("[a.cu]\ninclude_dirs: [b.cpp]") == "bad_spec x/op.yaml:3:16: 'b.cpp' is not a folder");
}

TEST_CASE("broken YAML is an error with its position") {
  const SpecWorld world;
  for (const char* text : {"name: [x\n", "name: x\nname: y\n", "name: &a x\n", "name: *a\n",
                           "name: !!str x\n", "name: x\n---\nname: y\n"}) {
    INFO(text);
    CHECK(world.error(text).rfind("bad_yaml x/op.yaml:", 0) == 0);
  }
}

TEST_CASE("a path that could leave the source root, or that a tool would misread, is refused unopened") {
  const SpecWorld world;
  for (const std::string path : {"''",
                                 "../x.cu",
                                 "a/../../x.cu",
                                 "bwd/../a.cu",
                                 "/etc/passwd",
                                 "/proc/self/environ",
                                 "~/x.cu",
                                 "~root/x.cu",
                                 "//x.cu",
                                 "bwd//one.cu",
                                 "./a.cu",
                                 "bwd/./one.cu",
                                 "..",
                                 ".",
                                 "bwd/",
                                 "'C:\\x.cu'",
                                 "'a|b.cu'",
                                 "'a$b.cu'",
                                 "'a`id`.cu'",
                                 "\"a'b.cu\"",
                                 "'a\"b.cu'",
                                 "\"a\\tb.cu\"",
                                 "\"a\\nb.cu\"",
                                 "\"a\\x1bb.cu\"",
                                 "\"a\\x7fb.cu\"",
                                 "'*.cu'"}) {
    INFO(path);
    CHECK(
        world.error("name: x\nsources: [" + path + "]\n").rfind("bad_spec x/op.yaml:2:11: 'sources': '", 0) ==
        0);
    if (path != ".")  // as a folder of headers: the source root itself
      CHECK(world.error("name: x\nsources: [a.cu]\ninclude_dirs: [" + path + "]\n")
                .rfind("bad_spec x/op.yaml:3:16: 'include_dirs': '", 0) == 0);
  }
  CHECK(world.files.reads.empty());
}

TEST_CASE("blanks and non-ASCII letters in a path are fine") {
  SpecWorld world;
  world.files.add_file("/src/with blank/ké.cu", "");
  CHECK(world.spec("name: x\nsources: [with blank/ké.cu]\n").sources[0].path == "with blank/ké.cu");
}

TEST_CASE("a link may point anywhere inside the source root and nowhere else") {
  SpecWorld world;
  world.files.add_file("/outside/secret.cu", "");
  world.files.add_link("/src/in.cu", "/src/a.cu");
  world.files.add_link("/src/out.cu", "/outside/secret.cu");
  world.files.add_link("/src/tree", "/outside");
  world.files.add_file("/srcs/near.cu", "");
  world.files.add_link("/src/near.cu", "/srcs/near.cu");
  CHECK(world.error("name: x\nsources: [in.cu]\n") == "no error");
  for (const std::string path : {"out.cu", "tree/secret.cu", "near.cu"}) {
    CHECK(world.error("name: x\nsources: [" + path + "]\n") ==
          "bad_spec x/op.yaml:2:11: '" + path + "' is a link to outside the source root");
  }
  CHECK(world.error("name: x\nsources: [a.cu]\ninclude_dirs: [tree]\n") ==
        "bad_spec x/op.yaml:3:16: 'tree' is a link to outside the source root");
  world.files.add_directory("/src/folder.cu");
  CHECK(world.error("name: x\nsources: [folder.cu]\n") ==
        "bad_spec x/op.yaml:2:11: 'folder.cu' is not a regular file");
}

}  // namespace
}  // namespace dsbuild
