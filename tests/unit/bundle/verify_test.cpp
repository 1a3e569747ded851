#include <catch2/catch.hpp>

#include "arch/intel.h"
#include "arch/nvidia.h"
#include "base/digest.h"
#include "base/text.h"
#include "bundle/bundle.h"
#include "bundle/verify.h"
#include "fakes/fake_file_system.h"
#include "support/offload_bytes.h"
#include "support/sample_bytes.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

using Sentences = std::vector<std::string>;

ArchSet archs(const std::vector<std::string>& names) {
  ArchSet set;
  for (const std::string& name : names)
    set.insert(*parse_target_name(name));
  return set;
}

// One TU's container: sm_70, compute_80 and so on, by name.
std::string fatbin(const std::vector<std::string>& names) {
  std::vector<std::string> entries;
  for (const std::string& name : names) {
    const Target target = *parse_target_name(name);
    const Suffix form = nvidia_target(target).suffix;
    const uint64_t suffix = form == Suffix::a ? 0x100000 : form == Suffix::f ? 0x200000 : 0;
    entries.push_back(
        entry(target.is_virtual() ? k_ptx : k_elf,
              static_cast<uint32_t>(nvidia_target(target).cc.major * 10 + nvidia_target(target).cc.minor),
              k_plain | suffix));
  }
  return container(entries);
}

std::string object(const std::vector<std::string>& names) {
  return elf({{".nv_fatbin", 1, fatbin(names)}}, {.type = 1});
}

Sentences sentences(const Result<std::vector<Difference>>& differences) {
  if (!differences) return {"error " + differences.error().code + " " + differences.error().where};
  Sentences texts;
  for (const Difference& difference : *differences)
    texts.push_back(difference.what);
  return texts;
}

// fused_adam of two CUDA sources and a binding, as planned and as built.
struct VerifyWorld {
  FakeFileSystem files;
  ExpectedOp expected{.op = "fused_adam",
                      .library = "lib/fused_adam.so",
                      .objects = {{"a.cu", "obj/a.o", archs({"sm_70", "sm_80", "compute_80"})},
                                  {"b.cu", "obj/b.o", archs({"sm_80", "compute_80"})},
                                  {"bind.cpp", "obj/bind.o", {}}},
                      .exports = {"adam_step"}};

  VerifyWorld() {
    set("obj/a.o", object({"sm_70", "sm_80", "compute_80"}));
    set("obj/b.o", object({"sm_80", "compute_80"}));
    set("obj/bind.o", elf({{".text", 1, "code"}}, {.type = 1}));
    set("lib/fused_adam.so",
        library({fatbin({"sm_70", "sm_80", "compute_80"}), fatbin({"sm_80", "compute_80"})},
                {"adam_step", "other"}));
  }
  void set(const std::string& path, const std::string& bytes) { files.add_file("/build/" + path, bytes); }
  Sentences verify() const { return sentences(verify_op(expected, "/build", files)); }
};

// The same op, published.
struct Published {
  FakeFileSystem files;
  Manifest manifest;

  explicit Published(const std::string& bytes) {
    manifest.dsbuild = "0.1.0";
    ManifestOp op;
    op.name = "fused_adam";
    op.file = "fused_adam.so";
    op.images = {{*parse_target_name("sm_70"), 1},
                 {*parse_target_name("sm_80"), 2},
                 {*parse_target_name("compute_80"), 2}};
    op.exports = {"adam_step"};
    op.sources = {{"a.cu", "", archs({"sm_70", "sm_80", "compute_80"})},
                  {"b.cu", "", archs({"sm_80", "compute_80"})},
                  {"bind.cpp", "", {}}};
    manifest.ops = {op};
    put(bytes);
  }
  // The library with digest and size made right again, as one who changes it would.
  void put(const std::string& bytes) {
    manifest.ops[0].sha256 = sha256(bytes);
    manifest.ops[0].bytes = bytes.size();
    files.add_file("/out/fused_adam.so", bytes);
    write_manifest();
  }
  void write_manifest() { files.add_file("/out/manifest.json", render_manifest(manifest)); }
  Sentences verify() const { return sentences(verify_bundle("/out", files)); }
};

std::string good_library() {
  return library({fatbin({"sm_70", "sm_80", "compute_80"}), fatbin({"sm_80", "compute_80"})}, {"adam_step"});
}

// What verify says of a library of SYCL's with these images, planned for `planned`.
Sentences verify_sycl(const std::vector<std::string>& planned, const std::string& images) {
  VerifyWorld world;
  ArchSet targets;
  for (const std::string& name : planned)
    targets.insert(*parse_target(name));
  world.expected.objects = {{"device_images", "obj/images.o", targets}};
  world.expected.exports = {};
  const std::string built = elf({{"__CLANG_OFFLOAD_BUNDLE__sycl-spir64", 1, images}}, {.type = 1});
  world.set("obj/images.o", built);
  world.set("lib/fused_adam.so", built);
  Sentences all;  // the library's are the object's but for its name
  for (const std::string& sentence : world.verify()) {
    const std::string same = replace_all(sentence, " in fused_adam.so", "");
    if (all.empty() || all.back() != same) all.push_back(same);
  }
  return all;
}

// Code of one device alone, by the version in its notes, and with the SPIR-V that it was made of.
std::string code_of(const std::string& device) {
  const IntelDevice& row = intel_device(*parse_target(device));
  return padded(zebin({{6, u32(row.version.number())}}), 16);
}
std::string code_and_spirv_of(const std::string& device) {
  const IntelDevice& row = intel_device(*parse_target(device));
  return padded(zebin({{6, u32(row.version.number())}}, {{".spv", k_ocloc_spirv, spirv()}}), 16);
}

}  // namespace

TEST_CASE("SYCL's images are split at will, for each device alike") {
  const std::string one = code_of("pvc") + code_of("dg2-g10");
  CHECK(verify_sycl({"pvc", "dg2-g10"}, one).empty());
  CHECK(verify_sycl({"pvc", "dg2-g10"}, one + one).empty());
  CHECK(verify_sycl({"pvc", "dg2-g10"}, one + code_of("dg2-g10")) ==
        Sentences{"fused_adam: device_images has 1 pvc image, planned 2"});
  CHECK(verify_sycl({"pvc", "dg2-g10"}, code_of("pvc")) ==
        Sentences{"fused_adam: device_images has no dg2-g10 image"});
  CHECK(verify_sycl({"pvc"}, one) ==
        Sentences{"fused_adam: device_images has an image that was not planned: dg2-g10"});
}

TEST_CASE(
    "SYCL's SPIR-V may stand beside the code of a device, and is no less often there where it is planned") {
  const std::string spirv_alone = padded(spirv(), 16);
  CHECK(verify_sycl({"pvc"}, code_and_spirv_of("pvc")).empty());
  CHECK(verify_sycl({"pvc"}, code_and_spirv_of("pvc") + spirv_alone) ==
        Sentences{"fused_adam: device_images has 2 spir64 images, planned 1"});
  CHECK(verify_sycl({"pvc", "spir64"}, code_and_spirv_of("pvc") + spirv_alone).empty());
  CHECK(verify_sycl({"pvc", "spir64"}, code_of("pvc")) ==
        Sentences{"fused_adam: device_images has no spir64 image"});
  CHECK(verify_sycl({"pvc", "spir64"}, code_of("pvc") + code_of("pvc") + spirv_alone) ==
        Sentences{"fused_adam: device_images has 1 spir64 image, planned 2"});
  CHECK(verify_sycl({"spir64"}, spirv_alone + spirv_alone).empty());
  CHECK(verify_sycl({"spir64"}, code_of("pvc") + spirv_alone) ==
        Sentences{"fused_adam: device_images has an image that was not planned: pvc"});
}

TEST_CASE("A build that holds exactly what was planned has no differences") {
  CHECK(VerifyWorld().verify().empty());
}

TEST_CASE("An object that lost an image is named with its source and the arch, and so is the library") {
  VerifyWorld world;
  world.set("obj/a.o", object({"sm_80", "compute_80"}));
  CHECK(world.verify() == Sentences{"fused_adam: a.cu has no sm_70 image"});
  world.set("lib/fused_adam.so",
            library({fatbin({"sm_80", "compute_80"}), fatbin({"sm_80", "compute_80"})}, {"adam_step"}));
  CHECK(world.verify() == Sentences{"fused_adam: a.cu has no sm_70 image",
                                    "fused_adam: a.cu has no sm_70 image in fused_adam.so"});
}

TEST_CASE("An image that nobody planned is named in its source") {
  VerifyWorld world;
  world.set("obj/b.o", object({"sm_75", "sm_80", "compute_80"}));
  CHECK(world.verify() == Sentences{"fused_adam: b.cu has an image that was not planned: sm_75"});
}

TEST_CASE("Real code, PTX and each suffix are different images") {
  VerifyWorld world;
  world.expected.objects[1].archs = archs({"sm_90a", "compute_100f"});
  world.set("obj/b.o", object({"sm_90", "compute_100a"}));
  world.set(
      "lib/fused_adam.so",
      library({fatbin({"sm_70", "sm_80", "compute_80"}), fatbin({"sm_90a", "compute_100f"})}, {"adam_step"}));
  CHECK(world.verify() == Sentences{"fused_adam: b.cu has an image that was not planned: sm_90",
                                    "fused_adam: b.cu has no sm_90a image",
                                    "fused_adam: b.cu has an image that was not planned: compute_100a",
                                    "fused_adam: b.cu has no compute_100f image"});
}

TEST_CASE("An image that is there twice is a difference") {
  VerifyWorld world;
  world.set("obj/b.o", object({"sm_80", "sm_80", "compute_80"}));
  CHECK(world.verify() == Sentences{"fused_adam: b.cu has 2 sm_80 images, planned 1"});
}

TEST_CASE("Device code in a host-only source is a difference") {
  VerifyWorld world;
  world.set("obj/bind.o", object({"sm_80"}));
  CHECK(world.verify() == Sentences{"fused_adam: bind.cpp has an image that was not planned: sm_80"});
}

TEST_CASE("The image that nvcc -shared adds to a library is named") {
  VerifyWorld world;
  world.set("lib/fused_adam.so", library({fatbin({"sm_75"}), fatbin({"sm_70", "sm_80", "compute_80"}),
                                          fatbin({"sm_80", "compute_80"})},
                                         {"adam_step"}));
  CHECK(world.verify() == Sentences{"fused_adam: fused_adam.so has an image that was not planned: sm_75 (1 "
                                    "more than its sources give)"});
}

TEST_CASE("A sum that is right does not hide a source that lost an arch to another") {
  VerifyWorld world;
  world.expected.objects[1].archs = archs({"sm_70", "sm_80"});
  world.set("obj/b.o", object({"sm_70", "sm_80"}));
  world.set("lib/fused_adam.so",
            library({fatbin({"sm_70", "sm_70", "sm_80", "compute_80"}), fatbin({"sm_80"})}, {"adam_step"}));
  CHECK(world.verify() == Sentences{"fused_adam: a.cu has 2 sm_70 images in fused_adam.so, planned 1",
                                    "fused_adam: b.cu has no sm_70 image in fused_adam.so"});
}

TEST_CASE("Where a whole container is gone, the sources that could miss it are named") {
  VerifyWorld world;
  world.set("lib/fused_adam.so", library({fatbin({"sm_70", "sm_80", "compute_80"})}, {"adam_step"}));
  CHECK(
      world.verify() ==
      Sentences{
          "fused_adam: one of a.cu, b.cu has no sm_80 image (fused_adam.so has 1, its sources give 2)",
          "fused_adam: one of a.cu, b.cu has no compute_80 image (fused_adam.so has 1, its sources give 2)"});
}

TEST_CASE("A symbol that the library does not export is named") {
  VerifyWorld world;
  world.expected.exports = {"adam_step", "adam_reset"};
  CHECK(world.verify() == Sentences{"fused_adam: fused_adam.so does not export adam_reset"});
}

TEST_CASE("An object that is missing or damaged stops the verification of the op") {
  VerifyWorld world;
  world.expected.objects[0].file = "obj/gone.o";
  CHECK(world.verify() == Sentences{"error io /build/obj/gone.o"});
  world.expected.objects[0].file = "obj/a.o";
  world.set("obj/a.o", "half");
  CHECK(world.verify() == Sentences{"error bad_elf /build/obj/a.o"});
}

TEST_CASE("What an op must have produced is kept as JSON and reads back the same") {
  const ExpectedOp expected = VerifyWorld().expected;
  CHECK(*parse_expected(render_expected(expected), "check/fused_adam.json") == expected);
  const auto bad = parse_expected("{\"op\":1}", "check/fused_adam.json");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == "bad_expected");
  CHECK(bad.error().where == "check/fused_adam.json");
  CHECK(bad.error().what == "op is not a string");
}

TEST_CASE("A published bundle that is as its manifest says has no differences") {
  CHECK(Published(good_library()).verify().empty());
}

TEST_CASE("A source whose sm_70 image was cut from the library is named, digests made right or not") {
  const std::string cut =
      library({fatbin({"sm_80", "compute_80"}), fatbin({"sm_80", "compute_80"})}, {"adam_step"});
  Published published(good_library());
  published.put(cut);
  CHECK(published.verify() == Sentences{"fused_adam: a.cu has no sm_70 image in fused_adam.so"});
}

TEST_CASE("The second source of a library is named, not the first, when it is the one that lost an image") {
  Published published(good_library());
  published.put(library({fatbin({"sm_70", "sm_80", "compute_80"}), fatbin({"compute_80"})}, {"adam_step"}));
  CHECK(published.verify() == Sentences{"fused_adam: b.cu has no sm_80 image in fused_adam.so"});
}

TEST_CASE("One changed byte of a library is found") {
  Published published(good_library());
  std::string bytes = good_library();
  bytes[70] = static_cast<char>(bytes[70] ^ 1);
  published.files.add_file("/out/fused_adam.so", bytes);
  const Sentences found = published.verify();
  REQUIRE_FALSE(found.empty());
  CHECK(found[0] == "fused_adam: fused_adam.so is not the file of the manifest: its sha256 differs");
}

TEST_CASE("A library of another size, a damaged one and a missing one are found") {
  Published published(good_library());
  published.files.add_file("/out/fused_adam.so", good_library() + "x");
  CHECK_THAT(published.verify().at(0),
             Catch::Contains("fused_adam.so has") && Catch::Contains("in the manifest"));
  published.put("half a library");
  CHECK_THAT(published.verify().at(0), Catch::StartsWith("fused_adam: fused_adam.so cannot be read"));
  REQUIRE(published.files.remove_all("/out/fused_adam.so"));
  CHECK(published.verify() == Sentences{"fused_adam: fused_adam.so is missing"});
}

TEST_CASE("A file that the manifest does not list is found") {
  Published published(good_library());
  published.files.add_file("/out/stray.so", "x");
  CHECK(published.verify() == Sentences{"stray.so is in the bundle but not in its manifest"});
}

TEST_CASE("What a wheel lays beside the libraries is no stranger, unless it is another file") {
  Published published(good_library());
  const std::string start = "# Ops.\n";
  published.files.add_file("/out/__init__.py", start);
  published.files.add_file("/out/__pycache__/__init__.cpython-311.pyc", "x");
  CHECK(published.verify() == Sentences{"__init__.py is in the bundle but not in its manifest",
                                        "__pycache__ is in the bundle but not in its manifest"});
  published.files.add_file(
      "/out-0+b1.dist-info/RECORD",
      "out/manifest.json,sha256=x,1\nout/__init__.py,sha256=" + sha256_urlsafe(start) + ",7\n");
  CHECK(published.verify().empty());
  published.files.add_file("/out/stray.so", "x");
  CHECK(published.verify() == Sentences{"stray.so is in the bundle but not in its manifest"});
  REQUIRE(published.files.remove_all("/out/stray.so"));
  published.files.add_file("/out/__pycache__/other.cpython-311.pyc", "x");
  CHECK(published.verify() == Sentences{"__pycache__ is in the bundle but not in its manifest"});
  REQUIRE(published.files.remove_all("/out/__pycache__"));
  published.files.add_file("/out/__init__.py", "# Others\n");
  CHECK(published.verify() ==
        Sentences{"__init__.py is not the file of the wheel: its sha256 differs from RECORD's"});
}

TEST_CASE("An op whose need is not in the bundle is found") {
  Published published(good_library());
  published.manifest.ops[0].needs = {"pin_memory"};
  published.write_manifest();
  CHECK(published.verify() == Sentences{"fused_adam: needs pin_memory, which is not in the bundle"});
}

TEST_CASE("A manifest whose counts do not fit its own sources is found") {
  Published published(good_library());
  published.manifest.ops[0].images[*parse_target_name("sm_80")] = 3;
  published.write_manifest();
  CHECK(published.verify() == Sentences{"fused_adam: fused_adam.so has 2 sm_80 images, planned 3"});
}

TEST_CASE("A folder without a manifest is no bundle") {
  FakeFileSystem files;
  files.add_file("/out/fused_adam.so", "x");
  CHECK(sentences(verify_bundle("/out", files)) == Sentences{"error no_bundle /out"});
}

TEST_CASE("an op that is built for more than the CPU has is named, with what the CPU lacks") {
  Manifest manifest;
  manifest.ops.resize(3);
  manifest.ops[0].name = "cpu_adam";
  manifest.ops[0].cpu_baseline = {"x86-64-v3", {"avx", "avx2", "fma"}};
  manifest.ops[1].name = "cpu_lion";
  manifest.ops[1].cpu_baseline = {"x86-64-v2", {"avx"}};
  manifest.ops[2].name = "fused_adam";
  CHECK(lesser_cpu_warnings(manifest, "avx fma sse2") ==
        std::vector<Warning>{warning("lesser_cpu", "cpu_adam",
                                     "it is built for x86-64-v3, and this CPU lacks avx2: it must not be "
                                     "loaded here",
                                     "Build with a lower --cpu-baseline for this machine.")});
  CHECK(lesser_cpu_warnings(manifest, "avx avx2 fma").empty());
}
