#include "policy/policy.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"
#include "provenance/bundle_signature.h"
#include "support/signing_keys.h"

namespace dsbuild {
namespace {

constexpr const char *k_builder = "https://ci.example/builder", *k_today = "2026-11-30";

// A signed bundle of one library, and a policy that asks for nothing yet.
struct World {
  FakeFileSystem files;
  Manifest manifest;
  BundlePolicy policy;

  World() {
    manifest.pack = "small";
    manifest.license = "MIT";
    manifest.source_version = "2.0.0";
    manifest.ops.resize(1);
    manifest.ops[0].name = "a";
    manifest.ops[0].file = "a.so";
    manifest.ops[0].sha256 = sha256("library");
    manifest.torch.emplace();
    manifest.torch->version = "2.11.0+cu130";
    manifest.torch->python = "cp311";
    manifest.torch->ext_suffix = ".so";
    put();
  }

  void put() {
    files.add_file("/out/a.so", "library");
    files.add_file("/out/manifest.json", render_manifest(manifest));
    Statement statement;
    statement.subjects = subjects_of(manifest, render_manifest(manifest));
    statement.run = {k_builder, "0.1.0", "urn:run", "2026-11-25T10:47:01Z", "2026-11-25T10:47:02Z"};
    files.add_file("/out/provenance.intoto.json", render_statement(statement));
    REQUIRE(sign_bundle("/out", k_key_one, files));
  }

  Verdict judge(const std::string& today = k_today) const {
    Verdict verdict;
    const Path path = "/out";
    REQUIRE(judge_policy(policy, {path, manifest, files}, today, verdict));
    return verdict;
  }
  std::string refusal(const std::string& today = k_today) const {
    const Verdict verdict = judge(today);
    return verdict.failures.size() == 1 ? verdict.failures[0].code + ": " + verdict.failures[0].what
                                        : std::to_string(verdict.failures.size()) + " failures";
  }
  bool passes(const std::string& today = k_today) const { return judge(today).failures.empty(); }

  void trust(const PrivateKey& key, const std::string& expires = "") {
    policy.trusted.push_back({key.public_key, "k.pem", expires});
  }
};

template <class T>
Setting<T> asked(T value) {
  return {std::move(value), "p.yaml:1:1"};
}

Version version(const char* text) {
  return *parse_version(text);
}

}  // namespace

TEST_CASE("A policy without a word asks for nothing, of a bundle without a signature too") {
  World world;
  REQUIRE(world.files.remove_all("/out/provenance.sigstore.json"));
  CHECK_FALSE(asks(world.policy));
  CHECK(world.passes());
}

TEST_CASE("Licences") {
  World world;
  world.policy.licenses = asked<std::vector<std::string>>({"MIT", "Apache-2.0"});
  CHECK(asks(world.policy));
  CHECK(world.passes());
  world.manifest.license = "GPL-3.0-only";
  CHECK(world.refusal() ==
        "license_not_allowed: the pack 'small' has the licence GPL-3.0-only; allowed by p.yaml:1:1: MIT, "
        "Apache-2.0");
  world.manifest.license = "";
  CHECK_THAT(world.refusal(), Catch::Contains("names no licence"));
  world.manifest.license = std::string(5000, '(') + "MIT";
  CHECK_THAT(world.refusal(), Catch::Contains("not an SPDX expression"));
}

TEST_CASE("What libraries need of the machine") {
  BundlePolicy policy;
  std::vector<LibraryNeeds> needs = {{"a.so", {{"libc.so.6"}, {{"GLIBC", "2.34"}, {"GLIBCXX", "3.4.29"}}}},
                                     {"b.so", {{}, {}}}};
  const auto refusals = [&] {
    Verdict verdict;
    judge_needs(policy, "/out", needs, verdict);
    std::vector<std::string> found;
    for (const Error& failure : verdict.failures)
      found.push_back(failure.code + ": " + failure.what);
    return found;
  };
  CHECK(refusals().empty());
  policy.max_glibc = asked(version("2.34"));
  policy.max_glibcxx = asked(version("3.4.29"));
  CHECK(refusals().empty());
  policy.max_glibc = asked(version("2.28"));
  CHECK(refusals() ==
        std::vector<std::string>{"abi_not_allowed: a.so needs glibc 2.34, and p.yaml:1:1 allows glibc 2.28"});
  policy.max_glibcxx = asked(version("3.4.28"));
  CHECK(refusals().size() == 2);
  policy = {};
  policy.max_glibc = asked(version("2.34"));
  needs[1].runtime.versions["GLIBC"] = "2.34.1";
  CHECK(refusals().size() == 1);
}

TEST_CASE("The torch that ops are for") {
  World world;
  world.policy.cxx11_abi = asked(std::optional(true));
  for (const char* range : {"2.11", "==2.11.0", ">=2.10,<3"}) {
    world.policy.torch_abi = asked<std::string>(range);
    CHECK(world.passes());
  }
  world.policy.torch_abi = asked<std::string>("2.10");
  CHECK(world.refusal() ==
        "abi_not_allowed: its ops are for torch 2.11.0+cu130, and p.yaml:1:1 asks for 2.10");
  world.policy.torch_abi = {};
  world.policy.cxx11_abi = asked(std::optional(false));
  CHECK_THAT(world.refusal(), Catch::Contains("C++11 ABI on, and p.yaml:1:1 asks for off"));
  world.manifest.torch.reset();
  CHECK(world.passes());
}

TEST_CASE("The oldest version") {
  World world;
  for (const char* least : {"2", "2.0.0", "1.9.9"}) {
    world.policy.min_version = asked(version(least));
    CHECK(world.passes());
  }
  world.policy.min_version = asked(version("2.0.1"));
  CHECK(world.refusal() ==
        "older_bundle: it is of version 2.0.0 of 'small', and p.yaml:1:1 asks for 2.0.1 or newer");
  for (const char* unknown : {"", "x", "2.0.1.x"}) {
    world.manifest.source_version = unknown;
    CHECK_THAT(world.refusal(), Catch::StartsWith("older_bundle"));
  }
}

TEST_CASE("Who signed it") {
  World world;
  world.trust(k_key_two);
  CHECK(asks(world.policy));
  CHECK_THAT(world.refusal(), Catch::StartsWith("untrusted_key: no trusted key has signed it"));
  world.trust(k_key_one);
  const Verdict verdict = world.judge();
  REQUIRE(verdict.signature);
  CHECK(verdict.signature->key == k_key_one.public_key.id());
  CHECK(verdict.signature->builder == k_builder);
  world.policy.revoked = {{k_key_one.public_key, "r.pem", ""}};
  CHECK(world.refusal() ==
        "untrusted_key: it is signed by the key 21fe31dfa154a261 (r.pem), which is revoked");
  CHECK_FALSE(world.judge().signature);
}

TEST_CASE("A key counts on its last day, and not on the next") {
  World world;
  world.trust(k_key_one, "2026-11-30");
  CHECK(world.passes("2026-11-30"));
  CHECK(world.refusal("2026-12-01") ==
        "untrusted_key: it is signed by the key 21fe31dfa154a261 (k.pem), which expired on 2026-11-30");
}

TEST_CASE("Who built it, and when") {
  World world;
  world.trust(k_key_one);
  world.policy.builders = asked<std::vector<std::string>>({"x", k_builder});
  world.policy.built_after = asked<std::string>("2026-11-25");
  CHECK(world.passes());
  world.policy.built_after = asked<std::string>("2026-11-26");
  CHECK(world.refusal() ==
        "older_bundle: it was built on 2026-11-25, and p.yaml:1:1 asks for 2026-11-26 or later");
  world.policy.builders = asked<std::vector<std::string>>({"https://ci.example/builder/"});
  CHECK_THAT(world.refusal(),
             Catch::StartsWith("other_builder: it was built by https://ci.example/builder, and"));
}

TEST_CASE("Where there is no signature, or one of other bytes") {
  World world;
  world.trust(k_key_one);
  world.files.add_file("/out/manifest.json", render_manifest(world.manifest) + "\n");
  CHECK_THAT(world.refusal(), Catch::StartsWith("statement_differs: is of another manifest.json"));
  REQUIRE(world.files.remove_all("/out/provenance.sigstore.json"));
  CHECK(world.refusal() == "not_signed: nobody has signed it");
}

}  // namespace dsbuild
