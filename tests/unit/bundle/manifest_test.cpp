#include <catch2/catch.hpp>
#include <random>

#include "bundle/manifest.h"
#include "support/sample.h"

using namespace dsbuild;

namespace {

Target target(const std::string& name) {
  return *parse_target_name(name);
}

Manifest small_manifest() {
  Manifest manifest;
  manifest.dsbuild = "0.1.0";
  manifest.pack = "native";
  manifest.toolkit = {"11.8.89", "gcc 11.3.0", "abc"};
  manifest.cxx = "gcc 12.2.0";
  manifest.tvm_ffi = "0.1.15";
  manifest.requested = {target("sm_70"), target("sm_80"), target("compute_80")};
  manifest.shared = {target("sm_80"), target("compute_80")};
  ManifestOp op;
  op.name = "fused_adam";
  op.module = "ops.fused_adam";
  op.backend = "cuda";
  op.file = "fused_adam.so";
  op.sha256 = "012";
  op.bytes = 4096;
  op.archs = manifest.requested;
  op.images = {{target("sm_70"), 1}, {target("sm_80"), 2}, {target("compute_80"), 2}};
  op.exports = {"step"};
  op.sources = {{"a.cu", "d1", op.archs}, {"b.cu", "d2", manifest.shared}, {"bind.cpp", "d3", {}}};
  manifest.ops = {op};
  manifest.failed = {{"fp_quantizer", "compile"}};
  return manifest;
}

// The format as docs/reference/manifest.md shows it.
constexpr const char* k_small_json = R"({
  "schema": 1,
  "dsbuild": "0.1.0",
  "pack": "native",
  "build_string": "",
  "toolkit": {
    "version": "11.8.89",
    "host_compiler": "gcc 11.3.0",
    "nvcc_sha256": "abc"
  },
  "cxx": "gcc 12.2.0",
  "tvm_ffi": "0.1.15",
  "compress_mode": "",
  "nvcc_prepend_flags": [],
  "nvcc_append_flags": [],
  "requested": [
    "7.0",
    "8.0+PTX"
  ],
  "shared": [
    "8.0+PTX"
  ],
  "ops": [
    {
      "name": "fused_adam",
      "module": "ops.fused_adam",
      "backend": "cuda",
      "file": "fused_adam.so",
      "sha256": "012",
      "bytes": 4096,
      "archs": [
        "7.0",
        "8.0+PTX"
      ],
      "images": [
        {
          "kind": "elf",
          "arch": "sm_70",
          "count": 1
        },
        {
          "kind": "elf",
          "arch": "sm_80",
          "count": 2
        },
        {
          "kind": "ptx",
          "arch": "compute_80",
          "count": 2
        }
      ],
      "exports": [
        "step"
      ],
      "needs": [],
      "sources": [
        {
          "path": "a.cu",
          "sha256": "d1",
          "archs": [
            "7.0",
            "8.0+PTX"
          ]
        },
        {
          "path": "b.cu",
          "sha256": "d2",
          "archs": [
            "8.0+PTX"
          ]
        },
        {
          "path": "bind.cpp",
          "sha256": "d3",
          "archs": []
        }
      ]
    }
  ],
  "failed": [
    {
      "op": "fp_quantizer",
      "what": "compile"
    }
  ]
}
)";

constexpr const char* k_torch_json = R"(  "torch": {
    "version": "2.11.0+cu130",
    "cuda": "13.0",
    "hip": "",
    "cxx11_abi": true,
    "python": "cp311",
    "ext_suffix": ".cpython-311-x86_64-linux-gnu.so",
    "accelerator": "cuda"
  },
)";
constexpr const char* k_cpu_json = R"(,
      "cpu_baseline": {
        "level": "x86-64-v3",
        "features": [
          "avx2",
          "fma"
        ]
      })";

constexpr const char* k_runtime_json = R"(,
      "runtime": {
        "libraries": [
          "libgomp.so.1",
          "libc.so.6"
        ],
        "versions": {
          "GLIBC": "2.34",
          "GOMP": "4.0"
        }
      })";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(engine_); }
  std::string text() {
    static const std::vector<std::string> pieces = {"a", "Z",    "0",  " ",  "\"", "\\",  "/",
                                                    "é", "世界", "\n", "\t", "$",  "\x01"};
    std::string made;
    for (size_t i = below(6); i > 0; --i)
      made += pieces[below(pieces.size())];
    return made;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> made(below(4));
    for (std::string& one : made)
      one = text();
    return made;
  }
  Target target() {
    static const std::vector<std::string> names = {"sm_70",   "sm_80",       "compute_80", "sm_90",
                                                   "sm_90a",  "compute_90a", "sm_100f",    "compute_120f",
                                                   "sm_103a", "sm_75"};
    return *parse_target_name(names[below(names.size())]);
  }
  ArchSet archs() {
    ArchSet made;
    for (size_t i = below(5); i > 0; --i)
      made.insert(target());
    return made;
  }
  ManifestOp op() {
    ManifestOp made{.name = text(),
                    .module = below(2) == 0 ? "" : "a.b" + std::to_string(below(9)),
                    .backend = "cuda",
                    .file = "f" + std::to_string(below(99)),
                    .sha256 = text(),
                    .bytes = below(1ULL << 60),
                    .archs = archs(),
                    .images = {},
                    .exports = texts(),
                    .needs = texts(),
                    .sources = {},
                    .device_link = below(4) == 0,
                    .cpu_baseline = {},
                    .features_off = texts(),
                    .runtime = {}};
    if (below(2) == 0) made.cpu_baseline = ManifestCpu{text(), texts()};
    if (below(2) == 0) made.runtime = ManifestRuntime{texts(), {{text(), text()}, {"GLIBC", text()}}};
    for (size_t i = below(4); i > 0; --i)
      made.images[target()] = static_cast<int>(1 + below(1000));
    for (size_t i = below(4); i > 0; --i)
      made.sources.push_back({text(), text(), archs()});
    return made;
  }
  Manifest manifest() {
    Manifest made{.dsbuild = text(),
                  .pack = text(),
                  .source_version = text(),
                  .license = text(),
                  .build_string = text(),
                  .toolkit = {},
                  .hip = {},
                  .sycl = {},
                  .cxx = text(),
                  .tvm_ffi = text(),
                  .torch = {},
                  .compress_mode = text(),
                  .nvcc_prepend_flags = texts(),
                  .nvcc_append_flags = texts(),
                  .requested = archs(),
                  .shared = archs(),
                  .ops = {},
                  .failed = {}};
    if (below(2) == 0)
      made.torch = ManifestTorch{text(), text(), text(), below(2) == 0, "cp311", "x.so", "cpu"};
    if (below(2) == 0) made.toolkit = {text(), text(), text()};
    if (below(2) == 0) made.hip = {text(), "", text() + "0"};
    if (below(2) == 0) made.sycl = {text(), "", text() + "0"};
    for (size_t i = below(4); i > 0; --i)
      made.ops.push_back(op());
    for (size_t i = below(3); i > 0; --i)
      made.failed.emplace_back(text(), text());
    return made;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace

TEST_CASE("The manifest's JSON is the documented one, byte for byte") {
  CHECK(render_manifest(small_manifest()) == k_small_json);
}

TEST_CASE("What torch and the CPU must be stands in the manifest where ops depend on it") {
  Manifest manifest = small_manifest();
  manifest.source_version = "0.19.8";
  manifest.license = "MIT OR Apache-2.0";
  manifest.torch =
      ManifestTorch{"2.11.0+cu130", "13.0", "", true, "cp311", ".cpython-311-x86_64-linux-gnu.so", "cuda"};
  manifest.ops[0].cpu_baseline = ManifestCpu{"x86-64-v3", {"avx2", "fma"}};
  const std::string json = render_manifest(manifest);
  CHECK(
      replaced(
          replaced(replaced(json,
                            "  \"source_version\": \"0.19.8\",\n  \"license\": \"MIT OR Apache-2.0\",\n", ""),
                   k_torch_json, ""),
          k_cpu_json, "") == k_small_json);
  CHECK(*parse_manifest(json, "m") == manifest);
}

TEST_CASE("What a library needs to be loaded stands in the manifest, and a manifest without it is read too") {
  Manifest manifest = small_manifest();
  manifest.ops[0].runtime =
      ManifestRuntime{{"libgomp.so.1", "libc.so.6"}, {{"GLIBC", "2.34"}, {"GOMP", "4.0"}}};
  const std::string json = render_manifest(manifest);
  CHECK(replaced(json, k_runtime_json, "") == k_small_json);
  CHECK(*parse_manifest(json, "m") == manifest);
  CHECK_FALSE(parse_manifest(k_small_json, "m")->ops[0].runtime);
  const auto bad = parse_manifest(replaced(json, "\"2.34\"", "2"), "m");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().what == "ops[0].runtime.versions.GLIBC is not a string");
}

TEST_CASE("A documented manifest reads back as the value it shows") {
  const auto manifest = parse_manifest(k_small_json, "manifest.json");
  REQUIRE(manifest);
  CHECK(*manifest == small_manifest());
}

TEST_CASE("Whatever a manifest holds, it reads back as it was written") {
  Random random(sample_seed());
  for (int i = 0; i < 500; ++i) {
    INFO("manifest " << i);
    const Manifest manifest = random.manifest();
    const auto back = parse_manifest(render_manifest(manifest), "m");
    REQUIRE(back);
    CHECK(*back == manifest);
  }
}

TEST_CASE("A bundle without CUDA has no toolkit") {
  Manifest manifest = small_manifest();
  manifest.toolkit = {};
  CHECK(render_manifest(manifest).find("\"toolkit\": null") != std::string::npos);
  CHECK(parse_manifest(render_manifest(manifest), "m")->toolkit == ManifestToolkit{});
}

TEST_CASE("Bytes that are no UTF-8 do not stop the manifest from being written") {
  Manifest manifest = small_manifest();
  manifest.build_string = "\xff";
  CHECK(parse_manifest(render_manifest(manifest), "m")->build_string == "\xEF\xBF\xBD");
}

TEST_CASE("Keys that this version does not know are passed over") {
  const std::string newer = replaced(k_small_json, "\"pack\"", "\"colour\": {\"a\": [1]}, \"pack\"");
  CHECK(*parse_manifest(newer, "m") == small_manifest());
}

TEST_CASE("A wrong manifest is an error that names the file and the place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {replaced(k_small_json, "\"schema\": 1", "\"schema\": 2"), "schema is not 1"},
      {replaced(k_small_json, "\"schema\": 1", "\"schema\": \"1\""), "schema is not a whole number"},
      {replaced(k_small_json, "  \"pack\": \"native\",\n", ""), "pack is missing"},
      {replaced(k_small_json, "\"bytes\": 4096", "\"bytes\": -1"), "ops[0].bytes is not a whole number"},
      {replaced(k_small_json, "\"bytes\": 4096", "\"bytes\": 1e3"), "ops[0].bytes is not a whole number"},
      {replaced(k_small_json, "\"count\": 2", "\"count\": 0"),
       "ops[0].images[1].count is not a number of images"},
      {replaced(k_small_json, "\"kind\": \"elf\"", "\"kind\": \"ptx\""),
       "ops[0].images[0].kind does not fit its arch"},
      {replaced(k_small_json, "\"sm_70\"", "\"sm_7\""), "ops[0].images[0].arch is not an architecture"},
      {replaced(k_small_json, "\"7.0\"", "\"banana\""), "requested[0] is not an architecture"},
      {replaced(k_small_json, "\"7.0\"", "\"all\""), "requested[0] is not an architecture"},
      {replaced(k_small_json, "\"fused_adam.so\"", "\"../x.so\""), "ops[0].file is not a file name"},
      {replaced(k_small_json, "\"ops.fused_adam\"", "\"ops.../x\""), "ops[0].module is not a Python module"},
      {replaced(k_small_json, "\"ops.fused_adam\"", "\"ops..x\""), "ops[0].module is not a Python module"},
      {replaced(k_small_json, "\"tvm_ffi\"", "\"torch\": {}, \"tvm_ffi\""), "torch.version is missing"},
      {replaced(
           replaced(k_small_json, "  \"compress_mode\"", k_torch_json + std::string("\"compress_mode\"")),
           ": true", ": 1"),
       "torch.cxx11_abi is neither true nor false"},
      {replaced(k_small_json, "\"exports\": [\n        \"step\"\n      ]", "\"exports\": {}"),
       "ops[0].exports is not a list"},
      {"[]", "the document is not an object"},
      {"{", "is not valid JSON"},
      {"", "is not valid JSON"},
      {std::string(100000, '['), "is not valid JSON"},
  };
  for (const auto& [json, what] : cases) {
    const auto manifest = parse_manifest(json, "out/manifest.json");
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().code == "bad_manifest");
    CHECK(manifest.error().exit == Exit::failed);
    CHECK(manifest.error().where == "out/manifest.json");
    CHECK_THAT(manifest.error().what, Catch::StartsWith(what));
  }
}
