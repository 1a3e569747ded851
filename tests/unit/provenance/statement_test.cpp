#include "provenance/statement.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "base/text.h"
#include "bundle/bundle.h"
#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

const std::string k_file = "/out/provenance.intoto.json";

// A bundle of one library, of one source and one header, with its statement.
struct BuiltBundle {
  FakeFileSystem files;
  Manifest manifest;
  Statement statement;

  BuiltBundle() {
    manifest.dsbuild = "0.1.0";
    manifest.pack = "small";
    ManifestOp op;
    op.name = "scale";
    op.file = "scale.so";
    op.sha256 = sha256("library");
    op.sources = {{"scale.cu,SIZE=32", sha256("source"), {}}};
    manifest.ops = {op};
    write_manifest();
    statement.subjects = subjects_of(manifest, render_manifest(manifest));
    statement.request = {"small",     {"scale"},
                         {"8.0+PTX"}, {{"debug", "yes"}},
                         "1",         {{"host", {}}, {"scale", {*parse_target_name("sm_80")}}}};
    statement.variables = {{"CPATH", sha256("/opt/include")}};
    statement.actions = {{"scale.so", sha256("link")}};
    statement.dependencies = {{k_of_header, "pack/scale.h", sha256("header"), "", "", "", {}, {"scale.so"}},
                              {k_of_pack,
                               "small",
                               "",
                               std::string(40, 'a'),
                               "git+https://x/y@a",
                               "1.0",
                               {"pack/scale.h"},
                               {"scale.so"}},
                              {k_of_source, "pack/scale.cu", sha256("source"), "", "", "", {}, {"scale.so"}}};
    statement.run = {"urn:dsbuild:local", "0.1.0", "urn:run", "2026-11-25T10:47:02Z", "2026-11-25T10:47:03Z"};
    write();
  }
  void write_manifest() { files.add_file("/out/manifest.json", render_manifest(manifest)); }
  void write() { files.add_file(k_file, render_statement(statement)); }
  // "" where the bundle is the statement's, else the error's code and text.
  std::string check() const {
    const auto checked = check_statement("/out", manifest, files);
    return checked ? "" : checked.error().code + ": " + checked.error().what;
  }
};

}  // namespace

TEST_CASE("A statement is read as it was written") {
  const BuiltBundle world;
  const auto read = parse_statement(render_statement(world.statement), k_file);
  REQUIRE(read);
  CHECK(*read == world.statement);
  CHECK(world.check().empty());
}

TEST_CASE("A bundle that is not the statement's is an error that says where they differ") {
  BuiltBundle world;
  std::vector<Subject>& subjects = world.statement.subjects;
  std::string said;
  SECTION("a subject is missing") {
    subjects.pop_back();
    said = "does not name scale.so";
  }
  SECTION("a subject has another digest") {
    subjects.back().sha256 = sha256("another");
    said = "is of another scale.so: its sha256 differs";
  }
  SECTION("a subject is not in the bundle") {
    subjects.push_back({"more.so", sha256("more")});
    said = "names more.so, which is not in the bundle";
  }
  SECTION("a subject stands there twice") {
    subjects.push_back(subjects.back());
    said = "names scale.so twice";
  }
  SECTION("the manifest was changed") {
    world.manifest.license = "MIT";
    world.write_manifest();
    said = "is of another manifest.json: its sha256 differs";
  }
  SECTION("a library was swapped, and the manifest made right again") {
    world.manifest.ops[0].sha256 = sha256("another");
    world.write_manifest();
    said = "is of another manifest.json";
  }
  SECTION("a source has another digest than in the manifest") {
    world.statement.dependencies.back().sha256 = sha256("another");
    said = "is of another scale.cu,SIZE=32 than the manifest";
  }
  SECTION("a source of the manifest is not there") {
    world.statement.dependencies.pop_back();
    said = "does not name scale.cu,SIZE=32, a source of scale";
  }
  SECTION("something else was made of a header") {
    world.statement.dependencies.front().used_by = {"more.so"};
    said = "says that more.so was made of pack/scale.h, and has no such subject";
  }
  world.write();
  CHECK(starts_with_one_of(world.check(), {"statement_differs: " + said}));
}

TEST_CASE("What is no statement of a build by dsbuild is an error, and a bundle without one is none") {
  BuiltBundle world;
  const std::string good = render_statement(world.statement);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"in-toto.io/Statement/v1", "in-toto.io/Statement/v2"},
           {"slsa.dev/provenance/v1", "slsa.dev/provenance/v9"},
           {"urn:dsbuild:build:v1", "urn:other:build"},
           {sha256("library"), "short"},
           {"\"used_by\"", "\"user\""},
           {"{", ""}}) {
    world.files.add_file(k_file, replace_all(good, from, to));
    CHECK(starts_with_one_of(world.check(), {"bad_statement: "}));
  }
  world.files.add_directory("/older");
  world.files.add_file("/older/manifest.json", render_manifest(world.manifest));
  CHECK(check_statement("/older", world.manifest, world.files));
  const auto loaded = load_statement("/older", world.files);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == "no_statement");
}

TEST_CASE("A statement that says the same stays, whatever its run was") {
  const BuiltBundle world;
  const std::string published = render_statement(world.statement);
  Statement again = world.statement;
  again.run.invocation = "urn:another";
  again.run.started = again.run.finished = "2027-01-01T00:00:00Z";
  CHECK(render_unless_published(again, published) == published);
  CHECK(render_unless_published(again, "") == render_statement(again));
  CHECK(render_unless_published(again, published + "\n") == render_statement(again));
  again.run.builder = "https://ci.example/builder";
  CHECK(render_unless_published(again, published) == render_statement(again));
  again.run = world.statement.run;
  again.dependencies.front().sha256 = sha256("edited");
  CHECK(render_unless_published(again, published) == render_statement(again));
}
