// --policy FILE, and options that are short forms of its keys.
#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "settings/options.h"
#include "support/signing_keys.h"

namespace dsbuild {
namespace {

constexpr const char* k_ed25519_pem =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

struct PolicyWorld {
  FakeFileSystem files;
  Arguments arguments;

  PolicyWorld() {
    files.add_file("/project/rules/keys/a.pem", k_ed25519_pem);
    files.add_file("/project/rules/b.pem", k_p256_public_pem);
    files.add_file("/project/c.pem", k_p256_public_pem);
  }
  Result<Settings> load(const std::string& policy) {
    files.add_file("/project/rules/p.yaml", policy);
    arguments["--policy"] = "rules/p.yaml";
    return load_settings(arguments, {}, files, "/data");
  }
  Settings settings(const std::string& policy) {
    const auto loaded = load(policy);
    if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
    return *loaded;
  }
  // "bad_policy rules/p.yaml:1:1"
  std::string error(const std::string& policy) {
    const auto loaded = load(policy);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().exit == Exit::usage);
    return loaded.error().code + " " + loaded.error().where;
  }
};

}  // namespace

TEST_CASE("Every key of a policy is an option by its name, and is in no config file") {
  size_t keys = 0;
  for (const Option& option : options()) {
    if (option.policy.empty()) continue;
    ++keys;
    CHECK(option.name() == "--" + replace_all(option.policy, "_", "-"));
    CHECK(option.setting.empty());
    CHECK(option.variable.empty());
  }
  CHECK(keys == 14);
}

TEST_CASE("A policy says what options say") {
  PolicyWorld world;
  const Settings settings = world.settings(
      "gpu: [H100, A100]\nptx_only: forbidden\nmax_size: 200M\nmax_op_size: [50M, scale=5M]\nlicense: [MIT, "
      "Apache-2.0]\n"
      "max_glibc: 2.28\nmax_glibcxx: 3.4.25\ncxx11_abi: on\ntorch_abi: '>=2.10'\nmin_version: "
      "v1.2.3\nbuilt_after: 2026-11-01\n"
      "trust_key: [keys/a.pem, b.pem expires 2027-06-30]\nrevoked_key: b.pem\nbuilder: https://ci.example\n");
  const BundlePolicy& policy = settings.policy;
  CHECK(settings.gpus.value == "H100,A100");
  CHECK(settings.strict.value);
  CHECK(settings.max_size.value == 200U << 20);
  CHECK(settings.max_op_size.value.of.at("scale") == 5U << 20);
  CHECK(policy.forbids_ptx_only.value);
  CHECK(policy.licenses.value == std::vector<std::string>{"MIT", "Apache-2.0"});
  CHECK(policy.licenses.origin == "rules/p.yaml:5:1");
  CHECK(policy.max_glibc.value.text() == "2.28");
  CHECK(policy.max_glibcxx.value.text() == "3.4.25");
  CHECK(policy.cxx11_abi.value == true);
  CHECK(policy.torch_abi.value == ">=2.10");
  CHECK(policy.min_version.value.text() == "1.2.3");
  CHECK(policy.built_after.value == "2026-11-01");
  CHECK(policy.builders.value == std::vector<std::string>{"https://ci.example"});
  REQUIRE(policy.trusted.size() == 2);
  CHECK(policy.trusted[0].key == k_key_one.public_key);
  CHECK(policy.trusted[0].file == "rules/keys/a.pem");
  CHECK(policy.trusted[0].expires.empty());
  CHECK(policy.trusted[1].expires == "2027-06-30");
  REQUIRE(policy.revoked.size() == 1);
  CHECK(policy.revoked[0].key == policy.trusted[1].key);
}

TEST_CASE("What is typed counts before the policy, from the current folder") {
  PolicyWorld world;
  world.arguments["--trust-key"] = "c.pem";
  world.arguments["--max-size"] = "1M";
  world.arguments["--gpu"] = "B200";
  const Settings settings =
      world.settings("trust_key: keys/a.pem\nmax_size: 2M\nmax_glibc: 2.28\ngpu: A100\n");
  REQUIRE(settings.policy.trusted.size() == 1);
  CHECK(settings.policy.trusted[0].file == "c.pem");
  CHECK(settings.max_size.value == 1U << 20);
  CHECK(settings.gpus.value == "B200");
  CHECK(settings.strict.value);
  CHECK(settings.policy.max_glibc.value.text() == "2.28");
}

TEST_CASE("A config file cannot make GPUs of a policy a question") {
  PolicyWorld world;
  world.files.add_file("/project/c.yaml", "strict: false\n");
  world.arguments["--config"] = "c.yaml";
  CHECK(world.settings("gpu: A100\n").strict.value);
  CHECK_FALSE(world.settings("max_size: 1M\n").strict.value);
}

TEST_CASE("An empty policy asks for nothing") {
  CHECK(PolicyWorld().settings("").policy == BundlePolicy{});
  CHECK(PolicyWorld().settings("# nothing\n").policy == BundlePolicy{});
}

TEST_CASE("Mistakes of a policy are told by their place") {
  PolicyWorld world;
  CHECK(world.error("max_sise: 1M\n") == "bad_policy rules/p.yaml:1:1");
  CHECK(world.load("max_sise: 1M\n").error().what == "unknown key 'max_sise' (did you mean 'max_size'?)");
  CHECK(world.error("- gpu\n") == "bad_policy rules/p.yaml:1:1");
  CHECK(world.error("gpu: A100\nmax_size:\n  - 1M\n") == "bad_policy rules/p.yaml:3:3");
  CHECK(world.error("license:\n  - MIT\n  - [Apache-2.0]\n") == "bad_policy rules/p.yaml:3:5");
  CHECK(world.error("license: MIT\n\nlicense: MIT\n") == "bad_yaml rules/p.yaml:3:1");
  CHECK(world.error("\nmax_size: lots\n") == "bad_size rules/p.yaml:2:1");
  CHECK(world.error("ptx_only: never\n") == "bad_choice rules/p.yaml:1:1");
  CHECK(world.error("max_glibc: new\n") == "bad_version rules/p.yaml:1:1");
  CHECK(world.error("cxx11_abi: maybe\n") == "bad_switch rules/p.yaml:1:1");
  CHECK(world.error("torch_abi: new\n") == "bad_version_range rules/p.yaml:1:1");
  CHECK(world.error("license: ' '\n") == "empty_value rules/p.yaml:1:1");
}

TEST_CASE("Days") {
  PolicyWorld world;
  for (const char* day : {"2026-11-30", "2024-02-29", "2000-02-29", "2026-01-01"})
    CHECK(world.settings(std::string("trust_key: keys/a.pem\nbuilt_after: ") + day + "\n")
              .policy.built_after.value == day);
  for (const char* day :
       {"2026-11-31", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "2026-1-01",
        "26-11-30", "2026-11-30T00:00:00Z", "2026/11/30", "20261130", "tomorrow", "2026--1-30"}) {
    CHECK(world.error(std::string("trust_key: keys/a.pem\nbuilt_after: ") + day + "\n") ==
          "bad_date rules/p.yaml:2:1");
    CHECK(world.error(std::string("trust_key: keys/a.pem expires ") + day + "\n") ==
          "bad_date rules/p.yaml:1:1");
  }
}

TEST_CASE("What is asked of a signature takes a key that counts") {
  PolicyWorld world;
  for (const char* asked : {"builder: b\n", "built_after: 2026-11-01\n", "revoked_key: b.pem\n"}) {
    CHECK(world.error(asked) == "bad_policy rules/p.yaml:1:1");
    CHECK(world.settings(std::string(asked) + "trust_key: keys/a.pem\n").policy.trusted.size() == 1);
  }
}

TEST_CASE("Files that hold no public key") {
  PolicyWorld world;
  world.files.add_file("/project/rules/private.pem", k_p256_private_pem);
  CHECK(world.error("trust_key: private.pem\n") == "bad_key rules/private.pem");
  CHECK(world.error("trust_key: p.yaml\n") == "bad_key rules/p.yaml");
  const auto absent = world.load("trust_key: absent.pem\n");
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == "io");
}

}  // namespace dsbuild
