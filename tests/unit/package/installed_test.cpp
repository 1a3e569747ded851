#include "package/installed.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

const Path k_site_packages = "/venv/lib/python3.11/site-packages";

// As the setup.py of DeepSpeed 0.19.8 writes it.
constexpr const char* k_record =
    "version='0.19.8 '\n"  // of a version.txt that ends so
    "git_hash='edaa7221'\n"
    "git_branch='master'\n"
    "installed_ops={'deepspeed_not_implemented': False, 'async_io': False, 'fused_adam': True, 'cpu_adam': "
    "1, "
    "'quantizer': 0}\n"
    "accelerator_name='cuda'\n"
    "torch_info={'version': '2.11', 'bf16_support': False, 'cuda_version': '13.0', 'nccl_version': '2.2', "
    "'hip_version': '0.0'}\n";

}  // namespace

TEST_CASE("DeepSpeed's own record says which ops were built with it, and for what") {
  FakeFileSystem disk;
  disk.add_file(k_site_packages / "deepspeed/__init__.py", "");
  disk.add_file(k_site_packages / "deepspeed/git_version_info_installed.py", k_record);
  const auto found = find_installed_deepspeed({"/nowhere", k_site_packages}, disk);
  REQUIRE(found);
  CHECK(found->folder == k_site_packages / "deepspeed");
  CHECK(found->version == "0.19.8");
  CHECK(found->ops == std::vector<std::string>{"cpu_adam", "fused_adam"});
  CHECK(found->accelerator == "cuda");
  CHECK(found->torch == "2.11");
  CHECK(found->cuda == "13.0");
}

TEST_CASE("Without a record the version is that of the metadata beside it, or of the source tree") {
  FakeFileSystem disk;
  disk.add_file(k_site_packages / "deepspeed/__init__.py", "");
  CHECK(find_installed_deepspeed({k_site_packages}, disk)->version.empty());
  disk.add_file(k_site_packages / "version.txt", "0.19.7\n");
  CHECK(find_installed_deepspeed({k_site_packages}, disk)->version == "0.19.7");
  disk.add_file(k_site_packages / "deepspeed-0.19.8+cu130.dist-info/METADATA", "");
  CHECK(find_installed_deepspeed({k_site_packages}, disk)->version == "0.19.8");
  CHECK(find_installed_deepspeed({k_site_packages}, disk)->ops.empty());
  CHECK_FALSE(find_installed_deepspeed({"/nowhere"}, disk));
}

TEST_CASE("A record of anything else gives what can be read of it") {
  FakeFileSystem disk;
  disk.add_file(k_site_packages / "deepspeed/__init__.py", "");
  for (const char* text : {"", "installed_ops", "=", "installed_ops={",
                           "installed_ops={'a': ", "installed_ops=None", "torch_info={'version'}"}) {
    disk.add_file(k_site_packages / "deepspeed/git_version_info_installed.py", text);
    CHECK(find_installed_deepspeed({k_site_packages}, disk)->ops.empty());
  }
}

TEST_CASE(
    "A wheel of ops is a package of dsbuild's with a manifest; the first folder with that name counts") {
  FakeFileSystem disk;
  Manifest manifest;
  manifest.pack = "native";
  disk.add_file("/a/dsbuild_native_ops/manifest.json", render_manifest(manifest));
  manifest.pack = "other";
  disk.add_file("/b/dsbuild_native_ops/manifest.json", render_manifest(manifest));
  disk.add_file("/b/dsbuild_damaged_ops/manifest.json", "{");
  disk.add_file("/b/dsbuild_empty_ops/__init__.py", "");
  disk.add_file("/b/someone_ops/manifest.json", render_manifest(manifest));
  const auto wheels = find_installed_wheels({"/nowhere", "/a", "/b"}, disk);
  REQUIRE(wheels.size() == 1);
  CHECK(wheels[0].name == "dsbuild_native_ops");
  CHECK(wheels[0].folder == "/a/dsbuild_native_ops");
  CHECK(wheels[0].manifest.pack == "native");
}
