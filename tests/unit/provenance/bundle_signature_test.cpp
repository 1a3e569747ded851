#include "provenance/bundle_signature.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"
#include "support/signing_keys.h"

namespace dsbuild {
namespace {

// A bundle of one library, and a statement of it.
struct World {
  FakeFileSystem files;
  Manifest manifest;
  Statement statement;

  World() {
    manifest.ops.resize(1);
    manifest.ops[0].name = "a";
    manifest.ops[0].file = "a.so";
    manifest.ops[0].sha256 = sha256("library");
    files.add_file("/out/a.so", "library");
    files.add_file("/out/manifest.json", render_manifest(manifest));
    statement.subjects = subjects_of(manifest, render_manifest(manifest));
    statement.run.builder = "b";
    put_statement();
  }

  void put_statement() { files.add_file("/out/provenance.intoto.json", render_statement(statement)); }
  std::string refusal() const {
    const auto read = load_signed_statement("/out", manifest, files);
    return read ? "" : read.error().code + ": " + read.error().what;
  }
};

}  // namespace

TEST_CASE("A bundle is signed once by each key, and by the last one in the end") {
  World world;
  for (const PrivateKey& key : {k_key_one, k_key_two}) {
    for (const bool is_first : {true, false}) {
      const auto done = sign_bundle("/out", key, world.files);
      REQUIRE(done);
      CHECK(done->changed == is_first);
      CHECK(done->key == key.public_key);
    }
    const auto signature = load_signature("/out", world.files);
    REQUIRE(signature);
    CHECK(is_signed_by(key.public_key, signature->envelope));
    CHECK(signature->envelope.payload == world.files.bytes("/out/provenance.intoto.json"));
  }
}

TEST_CASE("What was signed before an edit of the statement is no signature of it") {
  World world;
  REQUIRE(sign_bundle("/out", k_key_one, world.files));
  world.statement.run.builder = "c";
  world.put_statement();
  const auto signature = load_signature("/out", world.files);
  REQUIRE_FALSE(signature);
  CHECK(signature.error().code == "bad_signature");
}

TEST_CASE("A signed statement is the bundle's, and none of the files that it names is a link") {
  World world;
  const auto read = load_signed_statement("/out", world.manifest, world.files);
  REQUIRE(read);
  CHECK(*read == world.statement);
  SECTION("a link with the same bytes") {
    const std::string name = GENERATE("a.so", "manifest.json");
    world.files.add_file("/elsewhere/" + name, world.files.bytes("/out/" + name));
    REQUIRE(world.files.remove_all("/out/" + name));
    world.files.add_link("/out/" + name, "/elsewhere/" + name);
    CHECK(world.refusal() == "statement_differs: " + name + " is not a file of the bundle itself");
  }
  SECTION("a file that is not named") {
    world.statement.subjects.pop_back();
    world.put_statement();
    CHECK(world.refusal() == "statement_differs: does not name manifest.json");
  }
  SECTION("no statement") {
    REQUIRE(world.files.remove_all("/out/provenance.intoto.json"));
    CHECK_THAT(world.refusal(), Catch::StartsWith("no_statement: "));
  }
}

TEST_CASE("A signed statement is compared with the manifest, which verify has compared with the libraries") {
  const World world;
  CHECK(world.refusal().empty());
  CHECK_FALSE(world.files.reads.empty());
  CHECK(std::ranges::find(world.files.reads, "/out/a.so") == world.files.reads.end());
}

TEST_CASE("What the statement does not fit is not signed") {
  World world;
  world.files.add_file("/out/manifest.json", render_manifest(world.manifest) + "\n");
  const auto done = sign_bundle("/out", k_key_one, world.files);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == "statement_differs");
  CHECK_FALSE(world.files.exists("/out/provenance.sigstore.json"));
}

}  // namespace dsbuild
