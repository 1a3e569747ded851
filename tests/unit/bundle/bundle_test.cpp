#include <catch2/catch.hpp>
#include <thread>

#include "bundle/bundle.h"
#include "fakes/fake_file_system.h"
#include "support/temp_folder.h"

using namespace dsbuild;

namespace {

using Names = std::vector<std::string>;

Manifest manifest_of(const Names& ops) {
  Manifest manifest;
  manifest.dsbuild = "0.1.0";
  for (const std::string& name : ops) {
    ManifestOp op;
    op.name = name;
    op.file = name + ".so";
    manifest.ops.push_back(op);
  }
  return manifest;
}

// After an exchange nothing can be removed any more.
struct StickyFiles : FakeFileSystem {
  bool sticks = false;
  bool exchanged = false;
  Result<void> exchange(const Path& a, const Path& b) override {
    exchanged = true;
    return FakeFileSystem::exchange(a, b);
  }
  Result<void> remove_all(const Path& path) override {
    if (sticks && exchanged)
      return fail(Exit::failed, "io", path.string(), "removing: Operation not permitted");
    return FakeFileSystem::remove_all(path);
  }
};

// Built libraries in /build/lib, a bundle in /project/out.
struct World {
  StickyFiles files;
  DigestMemo digests{files, "/digests"};

  Result<Bundle> publish(const Names& ops) {
    std::vector<BundleFile> libraries;
    for (const std::string& op : ops)
      libraries.push_back({"/build/lib/" + op + ".so", op + ".so"});
    return publish_bundle("out", libraries, manifest_of(ops), files, digests);
  }
  void build(const std::string& op, const std::string& bytes) {
    files.add_file("/build/lib/" + op + ".so", bytes);
  }
};

}  // namespace

TEST_CASE("An out folder may be absent, empty or an earlier bundle") {
  FakeFileSystem files;
  CHECK(check_out_folder("/out", files));
  files.add_directory("/out");
  CHECK(check_out_folder("/out", files));
  files.add_file("/out/manifest.json", render_manifest(manifest_of({"a"})));
  files.add_file("/out/a.so", "x");
  CHECK(check_out_folder("/out", files));
}

TEST_CASE("An out folder with a damaged manifest of ours, or with our staging folder, is still ours") {
  FakeFileSystem files;
  std::string manifest = render_manifest(manifest_of({"a"}));
  files.add_file("/out/manifest.json", manifest.substr(0, manifest.size() / 2));
  CHECK(check_out_folder("/out", files));
  files.add_file("/killed/a.so", "x");
  files.add_file("/killed/.dsbuild-staging/manifest.json", manifest);
  CHECK(check_out_folder("/killed", files));
}

TEST_CASE("An out folder that is not ours is exit 2 and stays untouched") {
  FakeFileSystem files;
  files.add_file("/home/thesis.tex", "x");
  files.add_file("/node/manifest.json", R"({"name": "app", "version": 2})");
  files.add_file("/file", "x");
  for (const char* out : {"/home", "/node", "/file"}) {
    const auto checked = check_out_folder(out, files);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().exit == Exit::usage);
    CHECK(checked.error().code == "foreign_out");
    CHECK(checked.error().where == out);
    CHECK_FALSE(checked.error().fix.empty());
  }
  DigestMemo digests(files, "/digests");
  CHECK_FALSE(publish_bundle("/home", {}, manifest_of({}), files, digests));
  CHECK(files.writes.empty());
  CHECK(files.removals.empty());
}

TEST_CASE(
    "A bundle is removed, also where it cannot be renamed, and what is not ours or is a link's target "
    "stays") {
  for (const bool can_rename : {true, false}) {
    FakeFileSystem files;
    files.add_file("/out/manifest.json", render_manifest(manifest_of({"a"})));
    files.add_file("/out/a.so", "x");
    files.add_file("/.out.dsbuild-staging/a.so", "of a run that was killed");
    if (!can_rename) files.fail_writes("/.out.dsbuild-staging", "Read-only file system");
    CHECK(remove_bundle("/out", files).has_value() == can_rename);
  }
  FakeFileSystem files;
  files.add_file("/home/thesis.tex", "x");
  CHECK_FALSE(remove_bundle("/home", files));
  files.add_file("/real/manifest.json", render_manifest(manifest_of({"a"})));
  REQUIRE(files.make_symlink("/real", "/linked"));
  CHECK(remove_bundle("/linked", files));
  CHECK(files.kind("/linked") == FileKind::absent);
  CHECK(files.kind("/real/manifest.json") == FileKind::file);
}

TEST_CASE(
    "A statement is published with its bundle, alone where all else is there, and takes its signature "
    "along") {
  World world;
  world.build("a", "AAAA");
  const auto publish = [&](const std::string& statement) {
    const auto bundle = publish_bundle("out", {{"/build/lib/a.so", "a.so"}}, manifest_of({"a"}), world.files,
                                       world.digests, statement);
    REQUIRE(bundle);
    return bundle->changed;
  };
  CHECK(publish("first"));
  const Names signed_bundle = {"/project/out/a.so", "/project/out/manifest.json",
                               "/project/out/provenance.intoto.json",
                               "/project/out/provenance.sigstore.json"};
  world.files.add_file("/project/out/provenance.sigstore.json", "of the first");
  CHECK_FALSE(publish("first"));
  CHECK(world.files.tree("/project/out") == signed_bundle);
  world.files.writes.clear();
  CHECK(publish("second"));
  CHECK(world.files.writes == Names{"/project/out/provenance.intoto.json"});
  CHECK(world.files.bytes("/project/out/provenance.intoto.json") == "second");
  CHECK(world.files.kind("/project/out/provenance.sigstore.json") == FileKind::absent);
  world.files.add_file("/project/out/provenance.sigstore.json", "of the second");
  world.build("a", "BBBB");
  CHECK(publish("third"));
  CHECK(world.files.bytes("/project/out/a.so") == "BBBB");
  CHECK(world.files.bytes("/project/out/provenance.intoto.json") == "third");
  CHECK(world.files.kind("/project/out/provenance.sigstore.json") == FileKind::absent);
}

TEST_CASE("A first bundle holds the libraries and the manifest, and nothing is left beside it") {
  World world;
  world.build("a", "AAAA");
  const auto bundle = world.publish({"a"});
  REQUIRE(bundle);
  CHECK(bundle->changed);
  CHECK(world.files.tree("/project/out") == Names{"/project/out/a.so", "/project/out/manifest.json"});
  CHECK(world.files.bytes("/project/out/a.so") == "AAAA");
  CHECK(world.files.is_executable("/project/out/a.so"));
  CHECK(world.files.tree("/project").size() == 3);
  CHECK(bundle->bytes == 4 + world.files.bytes("/project/out/manifest.json").size());
  CHECK(load_manifest("/project/out", world.files) == manifest_of({"a"}));
}

TEST_CASE("A bundle is exactly the last build's selection, and what went is told") {
  World world;
  world.build("a", "A");
  world.build("b", "B");
  REQUIRE(world.publish({"a", "b"}));
  const auto second = world.publish({"b"});
  REQUIRE(second);
  CHECK(second->removed == Names{"a.so"});
  CHECK(world.files.tree("/project/out") == Names{"/project/out/b.so", "/project/out/manifest.json"});
  CHECK(world.files.tree("/project").size() == 3);
}

TEST_CASE("An unchanged bundle is not written again") {
  World world;
  world.build("a", "A");
  REQUIRE(world.publish({"a"}));
  world.files.writes.clear();
  world.files.removals.clear();
  const auto again = world.publish({"a"});
  REQUIRE(again);
  CHECK_FALSE(again->changed);
  CHECK(again->bytes > 0);
  CHECK(world.files.writes.empty());
  CHECK(world.files.removals.empty());
}

TEST_CASE("A changed library, manifest or stray file makes the bundle be written again") {
  World world;
  world.build("a", "A");
  REQUIRE(world.publish({"a"}));
  SECTION("library of the same size") {
    world.build("a", "B");
  }
  SECTION("damaged in the bundle") {
    world.files.add_file("/project/out/a.so", "X");
  }
  SECTION("manifest") {
    world.files.add_file("/project/out/manifest.json", "{\"schema\":1,\"dsbuild\":1}");
  }
  SECTION("stray file") {
    world.files.add_file("/project/out/stray", "x");
  }
  const auto again = world.publish({"a"});
  REQUIRE(again);
  CHECK(again->changed);
  CHECK(world.files.bytes("/project/out/a.so") == world.files.bytes("/build/lib/a.so"));
  CHECK_FALSE(world.files.exists("/project/out/stray"));
}

TEST_CASE("What a killed run left beside the bundle is swept, also when nothing else changes") {
  World world;
  world.build("a", "A");
  REQUIRE(world.publish({"a"}));
  world.files.add_file("/project/.out.dsbuild-staging/half.so", "x");
  REQUIRE_FALSE(world.publish({"a"})->changed);
  CHECK(world.files.tree("/project").size() == 3);
}

TEST_CASE("A folder that cannot be exchanged is published file by file, and a warning says so") {
  World world;
  world.build("a", "A");
  world.build("b", "B");
  REQUIRE(world.publish({"a"}));
  world.files.can_exchange = false;
  const auto bundle = world.publish({"b"});
  REQUIRE(bundle);
  REQUIRE(bundle->warnings.size() == 1);
  CHECK(bundle->warnings[0].code == "published_in_place");
  CHECK(bundle->removed == Names{"a.so"});
  CHECK(world.files.tree("/project") ==
        Names{"/project/out", "/project/out/b.so", "/project/out/manifest.json"});
}

TEST_CASE("A previous bundle that cannot be removed is a warning: the new one is complete") {
  World world;
  world.build("a", "A");
  world.build("b", "B");
  REQUIRE(world.publish({"a"}));
  world.files.sticks = true;
  const auto bundle = world.publish({"b"});
  REQUIRE(bundle);
  REQUIRE(bundle->warnings.size() == 1);
  CHECK(bundle->warnings[0].code == "old_bundle_left");
  CHECK(world.files.kind("/project/out/b.so") == FileKind::file);
}

TEST_CASE("A bundle in a folder whose parent cannot be written is published file by file") {
  World world;
  world.build("a", "A");
  world.files.add_directory("/project/out");
  world.files.fail_writes("/project/.out.dsbuild-staging", "Permission denied");
  const auto bundle = world.publish({"a"});
  REQUIRE(bundle);
  CHECK(world.files.tree("/project/out") == Names{"/project/out/a.so", "/project/out/manifest.json"});
}

TEST_CASE(
    "A disk that is full leaves the old bundle as it was, nothing beside it, and exit 1 with path and "
    "reason") {
  World world;
  world.build("a", "old");
  REQUIRE(world.publish({"a"}));
  world.build("a", "new");
  world.files.fail_writes("/project/.out.dsbuild-staging/a.so", "No space left on device");
  const auto bundle = world.publish({"a"});
  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().exit == Exit::failed);
  CHECK(bundle.error().code == "io");
  CHECK(bundle.error().where == "/project/.out.dsbuild-staging/a.so");
  CHECK_THAT(bundle.error().what, Catch::Contains("No space left on device"));
  CHECK(world.files.bytes("/project/out/a.so") == "old");
  CHECK(world.files.tree("/project").size() == 3);
}

TEST_CASE("On the real disk a reader sees one whole bundle or the other at every moment") {
  const TempFolder temp;
  const auto files = make_real_file_system();
  DigestMemo digests(*files, temp.path() / "digests");
  const auto publish = [&](const std::string& bytes) {
    Manifest manifest = manifest_of({"a"});
    manifest.build_string = bytes;
    const std::vector<BundleFile> libraries = {{temp.add("lib/a.so", bytes), "a.so"}};
    return publish_bundle(temp.path() / "out", libraries, manifest, *files, digests);
  };
  REQUIRE(publish("one"));
  const auto first = snapshot(temp.path() / "out");
  REQUIRE(publish("two"));
  const auto second = snapshot(temp.path() / "out");
  CHECK(first.size() == 2);
  CHECK(second.at("a.so") == "two");
  CHECK(publish("two")->changed == false);
  const auto mode = std::filesystem::status(temp.path() / "out/a.so").permissions();
  CHECK(static_cast<int>(mode) == 0755);
}

TEST_CASE("An out folder that is a link is followed, and the link stays") {
  const TempFolder temp;
  const auto files = make_real_file_system();
  DigestMemo digests(*files, temp.path() / "digests");
  std::filesystem::create_directories(temp.path() / "disk/real");
  std::filesystem::create_directory_symlink("disk/real", temp.path() / "out");
  const std::vector<BundleFile> libraries = {{temp.add("lib/a.so", "A"), "a.so"}};
  REQUIRE(publish_bundle(temp.path() / "out", libraries, manifest_of({"a"}), *files, digests));
  CHECK(std::filesystem::is_symlink(temp.path() / "out"));
  CHECK(snapshot(temp.path() / "disk/real").size() == 2);
}
