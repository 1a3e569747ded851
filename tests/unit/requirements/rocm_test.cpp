#include "requirements/rocm.h"

#include <catch2/catch.hpp>

#include "arch/amd.h"
#include "arch/arch_list.h"
#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

Toolkit rocm_toolkit() {
  Toolkit toolkit;
  toolkit.family = &k_hip_family;
  toolkit.home = "/opt/rocm";
  toolkit.headers = *parse_version("5.2.21153");
  return toolkit;
}

std::optional<Torch> torch_of(const std::string& version) {
  Torch torch;
  torch.version = version;
  return torch;
}

std::string found(const FakeFileSystem& files, const std::string& torch) {
  return find_rocm_version(rocm_toolkit(), torch_of(torch), files).text();
}

int wave_size(const std::string& list) {
  return common_wave_size(parse_arch_list(list, "test")->targets);
}

}  // namespace

TEST_CASE("ROCm's version is that of its folder, of torch, of its header, of HIP's headers, in this order") {
  FakeFileSystem files;
  CHECK(found(files, "2.11.0+cpu") == "5.2");
  files.add_file("/opt/rocm/include/rocm-core/rocm_version.h",
                 "#define ROCM_VERSION_MAJOR   6\n#define ROCM_VERSION_MINOR   1\n");
  CHECK(found(files, "2.11.0+cpu") == "6.1");
  CHECK(found(files, "2.8.0+rocm6.2.4") == "6.2");
  files.add_file("/opt/rocm/.info/version-dev", "6.3.1-48\n");
  CHECK(found(files, "2.8.0+rocm6.2.4") == "6.3");
  files.add_file("/opt/rocm/.info/version", "6.4.2-120\n");
  CHECK(found(files, "2.8.0+rocm6.2.4") == "6.4");
}

TEST_CASE("a version that cannot be read is passed over") {
  FakeFileSystem files;
  files.add_file("/opt/rocm/.info/version", "unknown\n");
  CHECK(found(files, "2.8.0+rocm") == "5.2");
}

TEST_CASE("a wavefront has the lanes of all targets, or there is no one number") {
  CHECK(wave_size("gfx90a;gfx942;gfx9-generic") == 64);
  CHECK(wave_size("gfx1030;gfx1201") == 32);
  CHECK(wave_size("gfx90a;gfx1100") == 0);
  CHECK(wave_size("8.0") == 0);
}
