#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "fakes/fake_file_system.h"
#include "fakes/faulty_file_system.h"
#include "package/installed_ops.h"
#include "package/package.h"

using namespace dsbuild;

namespace {

Package small_package() {
  Package package;
  package.name = "dsbuild_deepspeed_ops";
  package.version = "1+cputorch211";
  package.tag = "cp311-cp311-linux_x86_64";
  package.requirements = {"torch==2.11.*"};
  package.ops = {"fused_adam"};
  package.files = {{"dsbuild_deepspeed_ops.pth", "import dsbuild_deepspeed_ops\n"},
                   {"dsbuild_deepspeed_ops/a.so", "abc"}};
  return package;
}

Manifest manifest_of(const std::string& module) {
  Manifest manifest;
  manifest.source_version = "0.19.8";
  manifest.torch = ManifestTorch{"2.11.0+cu130", "13.0", "", true, "cp311", ".so", "cpu"};
  ManifestOp op;
  op.name = "fused_adam";
  op.module = module;
  manifest.ops = {op};
  return manifest;
}

Package version(const std::string& number) {
  Package package = small_package();
  package.version = number;
  for (const char* name : {"a.so", "deepspeed/b.so", "manifest.json"})
    package.files.push_back({package.name + "/" + name, number});
  return package;
}

const Path k_site = "/venv/site-packages";

std::map<std::string, std::string> files_below(const FakeFileSystem& disk, const Path& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& path : disk.tree(folder))
    if (disk.kind(path) == FileKind::file) files[path] = disk.bytes(path);
  return files;
}

std::map<std::string, std::string> installed(const Package& package) {
  FakeFileSystem disk;
  REQUIRE(install_package(package, k_site, disk));
  return files_below(disk, k_site);
}

struct Interrupted {
  std::set<std::string>
      seen;  // contents of the package's folder after a fault: "old", "new", "none", "mixed"
  int moments = 0;
};

// Replaces an old version by a new one, with a fault at every moment; the next install must heal.
Interrupted interrupt(Fault fault, bool can_exchange) {
  const Package old_package = version("1"), new_package = version("2");
  const Path folder = k_site / old_package.name;
  const auto below = [&](const Package& package) {
    FakeFileSystem disk;
    REQUIRE(install_package(package, k_site, disk));
    return files_below(disk, folder);
  };
  const std::map<std::string, std::string> none, old_files = below(old_package),
                                                 new_files = below(new_package);
  Interrupted result;
  for (bool hit = true; hit; ++result.moments) {
    INFO("fault at change " << result.moments + 1);
    FakeFileSystem disk;
    REQUIRE(install_package(old_package, k_site, disk));
    FaultyFileSystem faulty(disk, result.moments + 1, fault);
    faulty.can_exchange = can_exchange;
    const bool done = install_package(new_package, k_site, faulty).has_value();
    hit = faulty.was_hit();
    CHECK(done != hit);
    const auto files = files_below(disk, folder);
    result.seen.insert(files == old_files   ? "old"
                       : files == new_files ? "new"
                       : files == none      ? "none"
                                            : "mixed");
    REQUIRE(install_package(new_package, k_site, disk));
    CHECK(files_below(disk, k_site) == installed(new_package));
  }
  return result;
}

}  // namespace

TEST_CASE("Whenever an install fails or is killed, what Python loads is the old version or the new one") {
  for (const Fault fault : {Fault::error, Fault::kill}) {
    const Interrupted result = interrupt(fault, true);
    CHECK(result.seen == std::set<std::string>{"old", "new"});
    CHECK(result.moments > 10);
    // Where folders cannot be exchanged there may be none for a moment, but never a mixture.
    CHECK(interrupt(fault, false).seen == std::set<std::string>{"old", "new", "none"});
  }
}

TEST_CASE("A removal that was stopped can be repeated") {
  for (int fail_at = 1;; ++fail_at) {
    FakeFileSystem disk;
    disk.add_file(k_site / "other.py", "");
    REQUIRE(install_package(version("1"), k_site, disk));
    FaultyFileSystem faulty(disk, fail_at, Fault::kill);
    const bool stopped = !remove_packages(k_site, faulty);
    CHECK(stopped == faulty.was_hit());
    if (!stopped) break;
    REQUIRE(remove_packages(k_site, disk));
    CHECK(files_below(disk, k_site).size() == 1);
  }
}

TEST_CASE("What pip installed is left to pip") {
  FakeFileSystem disk;
  REQUIRE(install_package(version("1"), k_site, disk));
  disk.add_file(k_site / "dsbuild_deepspeed_ops-1.dist-info" / "INSTALLER", "pip\n");
  const auto before = disk.tree(k_site);
  const auto removed = remove_packages(k_site, disk);
  REQUIRE_FALSE(removed);
  CHECK(removed.error().code == "not_installed");
  CHECK(disk.tree(k_site) == before);
}

TEST_CASE("RECORD has the digest of every file but itself, as PEP 376 writes it") {
  const std::vector<PackageFile> files = distribution_files(small_package(), "");
  REQUIRE(files.back().path == "dsbuild_deepspeed_ops-1+cputorch211.dist-info/RECORD");
  // python3 -c 'import base64, hashlib; print(base64.urlsafe_b64encode(hashlib.sha256(b"abc").digest()))'
  CHECK_THAT(files.back().bytes, Catch::Contains("dsbuild_deepspeed_ops/a.so,sha256="
                                                 "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\n"));
  CHECK_THAT(files.back().bytes, Catch::EndsWith(".dist-info/RECORD,,\n"));
}

TEST_CASE("Only an installation says who installed it") {
  const auto says = [](const std::string& installer) {
    for (const PackageFile& file : distribution_files(small_package(), installer))
      if (Path(file.path).filename() == "INSTALLER") return file.bytes;
    return std::string();
  };
  CHECK(says("").empty());
  CHECK(says("dsbuild") == "dsbuild\n");
}

TEST_CASE("An archive without files is one that can be read") {
  const auto zip = make_zip({});
  REQUIRE(zip);
  CHECK(*zip == std::string("PK\5\6", 4) + std::string(18, '\0'));
}

TEST_CASE(
    "DeepSpeed is told of its own modules alone, and of the accelerator that they are for, whatever torch "
    "has") {
  CHECK_FALSE(render_installed_ops(manifest_of("other.fused_adam"), {"fused_adam"}));
  CHECK_FALSE(render_installed_ops(manifest_of("deepspeed.x"), {}));
  const auto text = render_installed_ops(manifest_of("deepspeed.x"), {"fused_adam"});
  REQUIRE(text);
  CHECK_THAT(*text, Catch::Contains("installed_ops = {\"fused_adam\": True}\naccelerator_name = \"cpu\"\n"
                                    "torch_info = {\"version\": \"2.11\", ") &&
                        Catch::Contains("\"cuda_version\": \"13.0\""));
}
