// Golden: versions as PEP 440's own pattern takes them, the limit of files on PyPI, licences by PEP 639.
#include <catch2/catch.hpp>

#include "package/metadata.h"
#include "package/notices.h"
#include "package/wheel_checks.h"

using namespace dsbuild;

namespace {

ManifestOp op_of(const std::string& name, const std::string& backend, const std::string& arch) {
  ManifestOp op;
  op.name = name;
  op.backend = backend;
  op.file = name + ".so";
  if (!arch.empty()) op.archs = {*parse_target_name(arch)};
  return op;
}

Manifest licensed(const std::string& license) {
  Manifest manifest;
  manifest.license = license;
  manifest.license_files = {{"LICENSE", "As you like.\n"}};
  manifest.toolkit.version = "13.0.88";
  manifest.tvm_ffi = "0.1.15";
  return manifest;
}

std::string bytes_of(const Package& package, const std::string& path) {
  for (const PackageFile& file : package.info_files)
    if (file.path == path) return file.bytes;
  return "";
}

}  // namespace

TEST_CASE("A version is one that file names hold as it is, and PyPI's have no local part") {
  for (const char* version : {"0", "1.4.0", "1!2.0", "1.4a1", "1.4.0rc2.post1.dev3", "2026.11.30"})
    CHECK(wheel_version_refusal(version, WheelIndex::pypi).empty());
  for (const char* version :
       {"", "1.", ".1", "v1", "1.04", "1.4-1", "1.4.post", "1.4 ", "1/2", "1.4_1", "1+"})
    CHECK_THAT(wheel_version_refusal(version, WheelIndex::own), Catch::Contains("PEP 440"));
  CHECK_THAT(wheel_version_refusal("1+cu130", WheelIndex::pypi), Catch::Contains("PyPI"));
  CHECK(wheel_version_refusal("1+cu130torch211.a", WheelIndex::own).empty());
}

TEST_CASE("An index of one's own has the version of what the ops are built for") {
  Manifest manifest = licensed("");
  CHECK(default_wheel_version(manifest, WheelIndex::pypi) == "0");
  CHECK(default_wheel_version(manifest, WheelIndex::own) == "0+cu130");
  manifest.source_version = "0.19.8";
  manifest.toolkit = {};
  CHECK(default_wheel_version(manifest, WheelIndex::own) == "0.19.8+cpu");
  manifest.hip.version = "6.4.1";
  CHECK(default_wheel_version(manifest, WheelIndex::own) == "0.19.8+rocm64");
  manifest.torch = ManifestTorch{"2.11.0+cu130", "13.0", "", true, "cp311", ".so", "cuda"};
  CHECK(default_wheel_version(manifest, WheelIndex::own) == "0.19.8+cu130torch211");
  CHECK(default_wheel_version(manifest, WheelIndex::pypi) == "0.19.8");
}

TEST_CASE("The runtime of CUDA is named where it is linked in, and not where a process has it") {
  const ManifestOp linked = op_of("fused_adam", "cuda", "sm_80"), shared = op_of("other", "cuda", "sm_80"),
                   host = op_of("cpu_adam", "cpu", "");
  const std::vector<PackagedLibrary> libraries = {{&linked, {{"libtvm_ffi.so", "libc.so.6"}, {}}},
                                                  {&shared, {{"libcudart.so.13", "libtorch.so"}, {}}},
                                                  {&host, {{"libc.so.6"}, {}}}};
  Package package;
  add_licenses(package, licensed("MIT"), libraries);
  CHECK(package.license == "MIT AND LicenseRef-NVIDIA-Proprietary AND Apache-2.0 AND BSD-3-Clause");
  CHECK(bytes_of(package, "licenses/LICENSE") == "As you like.\n");
  const std::string notice = bytes_of(package, "licenses/THIRD_PARTY_NOTICES.txt");
  CHECK_THAT(notice, Catch::Contains("NVIDIA CUDA runtime 13.0.88") &&
                         Catch::Contains("in       fused_adam.so\n") &&
                         Catch::Contains("in       other.so\n") && !Catch::Contains("cpu_adam"));

  Package plain;
  add_licenses(plain, licensed("MIT"), {libraries.back()});
  CHECK(plain.license == "MIT");
  CHECK(bytes_of(plain, "licenses/THIRD_PARTY_NOTICES.txt").empty());
}

TEST_CASE("A choice of licences stays one beside those of others") {
  const ManifestOp linked = op_of("fused_adam", "cuda", "sm_80");
  const auto expression = [&](const std::string& license) {
    Package package;
    add_licenses(package, licensed(license), {{&linked, {{"libtvm_ffi.so"}, {}}}});
    return package.license;
  };
  CHECK(expression("Apache-2.0") == "Apache-2.0 AND LicenseRef-NVIDIA-Proprietary");
  CHECK(expression("Apache-2.0 OR MIT") ==
        "(Apache-2.0 OR MIT) AND LicenseRef-NVIDIA-Proprietary AND Apache-2.0");
  CHECK(expression("").empty());
}

TEST_CASE("The runtime of CUDA is in no op of another vendor, and in none without device code") {
  const ManifestOp hip = op_of("fused_adam", "hip", "gfx90a"), host = op_of("cpu_adam", "cuda", "");
  Package package;
  add_licenses(package, licensed("MIT"), {{&hip, {}}, {&host, {}}});
  CHECK(package.license == "MIT");
}

TEST_CASE("A licence's name and its text are each asked for, and those of others are no text of it") {
  Package package;
  package.license = "MIT";
  package.info_files = {{"licenses/THIRD_PARTY_NOTICES.txt", "Others.\n"}, {"sboms/x.spdx.json", "{}"}};
  REQUIRE(check_licenses(package).size() == 1);
  CHECK(check_licenses(package)[0].what == "has no text of its licence");
  package.info_files.push_back({"licenses/LICENSE", "As you like.\n"});
  CHECK(check_licenses(package).empty());
  package.license = "";
  REQUIRE(check_licenses(package).size() == 1);
  CHECK(check_licenses(package)[0].what == "names no licence");
}

TEST_CASE("No name begins a column of the page that an index shows") {
  Manifest manifest;
  manifest.ops = {op_of("a|b", "cpu", "")};
  Package package;
  package.ops = {"a|b"};
  CHECK_THAT(describe_package(package, manifest), Catch::Contains("\n| a\\|b | CPU |\n"));
}

TEST_CASE("PyPI takes files of 100 MiB, and manylinux") {
  Package package;
  package.name = "dsbuild_x_ops";
  package.tag = "py3-none-manylinux_2_28_x86_64";
  CHECK(check_for_pypi(package, 100 << 20).empty());
  REQUIRE(check_for_pypi(package, (100 << 20) + 1).size() == 1);
  CHECK(check_for_pypi(package, (100 << 20) + 1)[0].code == "pypi_refuses");
  package.tag = "py3-none-linux_x86_64";
  CHECK(check_for_pypi(package, 1).size() == 1);
}

TEST_CASE("Files of other parts lie in the .dist-info folder, and RECORD has them") {
  Package package;
  package.name = "dsbuild_x_ops";
  package.version = "1";
  package.info_files = {{"licenses/LICENSE", "text"}, {"sboms/x.spdx.json", "{}"}};
  const auto files = distribution_files(package, "");
  CHECK_THAT(files.back().bytes, Catch::Contains("dsbuild_x_ops-1.dist-info/licenses/LICENSE,sha256=") &&
                                     Catch::Contains("dsbuild_x_ops-1.dist-info/sboms/x.spdx.json,sha256="));
  CHECK_THAT(render_metadata(package),
             Catch::Contains("License-File: LICENSE\n") && !Catch::Contains("sboms"));
}
