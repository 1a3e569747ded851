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

  World() {
    manifest.ops.resize(1);
    manifest.ops[0].name = "a";
    manifest.ops[0].file = "a.so";
    files.add_file("/out/a.so", "library");
    files.add_file("/out/manifest.json", render_manifest(manifest));
    put_statement(subject("manifest.json") + ", " + subject("a.so"));
  }

  std::string subject(const std::string& name) const {
    return R"({"name": ")" + name + R"(", "digest": {"sha256": ")" + sha256(files.bytes("/out/" + name)) +
           R"("}})";
  }
  void put_statement(const std::string& subjects, const std::string& run = R"("builder": {"id": "b"})") {
    files.add_file("/out/provenance.intoto.json",
                   R"({"_type": "https://in-toto.io/Statement/v1",)"
                   R"("predicateType": "https://slsa.dev/provenance/v1", "subject": [)" +
                       subjects + R"(], "predicate": {"runDetails": {)" + run + "}}}");
  }
  Error refusal() const {
    const auto read = load_checked_statement("/out", manifest, files);
    REQUIRE_FALSE(read);
    return read.error();
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
  world.put_statement(world.subject("manifest.json") + ", " + world.subject("a.so"),
                      R"("builder": {"id": "c"})");
  const auto signature = load_signature("/out", world.files);
  REQUIRE_FALSE(signature);
  CHECK(signature.error().code == "bad_signature");
}

TEST_CASE("A statement says who built it and when, where it says so") {
  World world;
  auto statement = load_checked_statement("/out", world.manifest, world.files);
  REQUIRE(statement);
  CHECK(statement->builder == "b");
  CHECK(statement->finished.empty());
  world.put_statement(world.subject("manifest.json") + ", " + world.subject("a.so"),
                      R"("builder": {"id": "c"}, "metadata": {"finishedOn": "2026-11-25T10:47:02Z"})");
  statement = load_checked_statement("/out", world.manifest, world.files);
  REQUIRE(statement);
  CHECK(statement->finished == "2026-11-25T10:47:02Z");
}

TEST_CASE("Each file of the bundle is a subject, and each subject a file, with these bytes") {
  World world;
  const std::string manifest = world.subject("manifest.json"), library = world.subject("a.so");
  world.put_statement(library);
  CHECK(world.refusal().what == "provenance.intoto.json does not name manifest.json");
  world.put_statement(manifest);
  CHECK(world.refusal().what == "provenance.intoto.json does not name a.so");
  world.put_statement(manifest + ", " + library + R"(, {"name": "b.so", "digest": {"sha256": ""}})");
  CHECK(world.refusal().what == "provenance.intoto.json names files that the bundle does not have");
  world.put_statement(manifest + ", " + library + ", " + library);
  CHECK(world.refusal().code == "bad_statement");
  world.put_statement(manifest + ", " + library);
  world.files.add_file("/out/a.so", "libraries");
  CHECK(world.refusal().code == "statement_differs");
  world.files.add_file("/elsewhere/a.so", "library");
  REQUIRE(world.files.remove_all("/out/a.so"));
  world.files.add_link("/out/a.so", "/elsewhere/a.so");
  CHECK(world.refusal().what == "a.so is no file of the bundle itself");
  REQUIRE(world.files.remove_all("/out/provenance.intoto.json"));
  CHECK(world.refusal().code == "no_statement");
}

TEST_CASE("What the statement does not fit is not signed") {
  World world;
  world.files.add_file("/out/a.so", "libraries");
  const auto done = sign_bundle("/out", k_key_one, world.files);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == "statement_differs");
  CHECK_FALSE(world.files.exists("/out/provenance.sigstore.json"));
}

}  // namespace dsbuild
