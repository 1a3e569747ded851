#include "driver/inventory.h"

#include <catch2/catch.hpp>

#include "base/build_layout.h"
#include "build_world.h"
#include "driver/inventory_diff.h"

using namespace dsbuild;

namespace {

Target target(const std::string& name) {
  return parse_target_name(name).value();
}

InventoryOp op(const std::string& name) {
  InventoryOp op;
  op.name = name;
  op.is_built = true;
  op.archs = {target("sm_70"), target("sm_80")};
  op.exports = {name + "_run"};
  op.sources = {{name + ".cu", "0123456789abcdef", op.archs, {"-O3", "-DA"}}};
  op.link_flags = {"-lm"};
  op.library = InventoryLibrary{.bytes = 1000, .sha256 = "aa", .images = {}, .modules = {}, .kernels = {}};
  for (const Target& each : op.archs)
    op.library->images.push_back({.target = each, .count = 1, .bytes = 300});
  return op;
}

Inventory build() {
  Inventory inventory;
  inventory.path = "build";
  inventory.is_build = true;
  inventory.facts = {{"dsbuild", "1"}, {"toolkit", "13.0.88"}};
  inventory.requested = inventory.shared = {target("sm_70"), target("sm_80")};
  inventory.ops = {op("adam"), op("quantizer")};
  return inventory;
}

// "adam: archs: 7.0 8.0 -> 8.0"
std::vector<std::string> differences(const Inventory& before, const Inventory& after) {
  std::vector<std::string> lines;
  for (const InventoryChange& change : compare(before, after).changes)
    lines.push_back((change.op.empty() ? "" : change.op + ": ") + change.what + ": " + change.before +
                    " -> " + change.after);
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("diff: the same is no difference, and both ways are alike") {
  CHECK(differences(build(), build()).empty());
  Inventory other = build();
  other.ops.pop_back();
  other.facts[1].second = "11.8.89";
  CHECK(differences(build(), other) ==
        Lines{"toolkit: 13.0.88 -> 11.8.89", "quantizer: op: built -> not there"});
  CHECK(differences(other, build()) ==
        Lines{"toolkit: 11.8.89 -> 13.0.88", "quantizer: op: not there -> built"});
}

TEST_CASE("diff: archs, images, sizes of an op") {
  Inventory other = build();
  InventoryOp& adam = other.ops[0];
  adam.archs = {target("sm_80")};
  adam.dropped = {{target("sm_70"), DroppedBy::op, "needs >= 8.0"}};
  adam.sources[0].archs = adam.archs;
  adam.library->images = {{.target = target("sm_80"), .count = 2, .bytes = 340}};
  adam.library->bytes = 750;
  CHECK(differences(build(), other) ==
        Lines{"adam: archs: 7.0 8.0 -> 8.0", "adam: archs of adam.cu: 7.0 8.0 -> 8.0",
              "adam: bytes: 1000 -> 750", "adam: images of sm_70: 1 -> 0", "adam: bytes of sm_70: 300 -> 0",
              "adam: images of sm_80: 1 -> 2", "adam: bytes of sm_80: 300 -> 340",
              "adam: bytes of host code: 400 -> 410", "adam: dropped: not there -> 7.0 (op: needs >= 8.0)"});
}

TEST_CASE("diff: exports, flags and sources are named one by one") {
  Inventory other = build();
  InventoryOp& adam = other.ops[0];
  adam.exports = {"adam_step"};
  adam.sources[0].flags = {"-O3", "-DB", "-DC"};
  adam.sources.push_back({"more.cpp", "ffff", {}, {}});
  adam.link_flags = {"-lm", "-laio"};
  CHECK(differences(build(), other) ==
        Lines{"adam: export: adam_run -> not there", "adam: export: not there -> adam_step",
              "adam: flags of adam.cu: -DA -> -DB -DC", "adam: source more.cpp: not there -> SHA-256 ffff",
              "adam: link flags:  -> -laio"});
  other = build();
  other.ops[0].sources[0].flags = {"-DA", "-O3"};
  CHECK(differences(build(), other) == Lines{"adam: flags of adam.cu: -O3 -DA -> -DA -O3"});
}

TEST_CASE("diff: other bytes of the same sizes; what is not built, or has no library") {
  Inventory other = build();
  other.ops[0].library->sha256 = "bb";
  CHECK(differences(build(), other) == Lines{"adam: content: SHA-256 aa -> SHA-256 bb"});
  other.ops[0].library.reset();
  CHECK(differences(build(), other) == Lines{"adam: library: there -> not there"});
  other.ops[0].is_built = false;
  other.ops[0].reason = "no libaio";
  CHECK(differences(build(), other) == Lines{"adam: op: built -> not built: no libaio"});
}

TEST_CASE("diff: what a bundle does not know is not compared with a build") {
  Inventory bundle = build();
  bundle.is_build = false;
  bundle.facts.emplace_back("tvm-ffi", "0.1.15");
  for (InventoryOp& each : bundle.ops) {
    each.link_flags.clear();
    each.sources[0].flags.clear();
  }
  CHECK(differences(build(), bundle).empty());
  Inventory other = bundle;
  other.facts.back().second = "0.1.16";
  CHECK(differences(bundle, other) == Lines{"tvm-ffi: 0.1.15 -> 0.1.16"});
}

TEST_CASE("diff: what two bundles ask of the machine that loads them") {
  Inventory before = build(), after = build();
  before.is_build = after.is_build = false;
  before.ops[0].runtime = {"libc.so.6", "GLIBC 2.28"};
  after.ops[0].runtime = {"libc.so.6", "libgomp.so.1", "GLIBC 2.34"};
  CHECK(differences(before, after) == Lines{"adam: runtime: GLIBC 2.28 -> not there",
                                            "adam: runtime: not there -> GLIBC 2.34",
                                            "adam: runtime: not there -> libgomp.so.1"});
  before.is_build = true;
  CHECK(differences(before, after).empty());
}

TEST_CASE("diff: times are told and are no difference") {
  Inventory before = build(), after = build();
  before.timings = after.timings = Timings{};
  TimedEdge edge;
  edge.op = "adam";
  edge.end = 120;
  before.timings->total = 150;
  before.timings->edges = {edge, edge};
  after.timings->total = 130;
  after.timings->edges = {edge};
  const InventoryDiff diff = compare(before, after);
  CHECK(diff.changes.empty());
  CHECK(diff.times == std::vector<InventoryTime>{{"", 150, 130}, {"adam", 240, 120}});
}

TEST_CASE("inventory: of a build and of its bundle") {
  BuildWorld world;
  world.settings.selection.all = true;
  REQUIRE(world.build());
  DigestMemo digests(*world.files, world.settings.cache_dir / "digests");
  const Inventory built = take_inventory(world.settings.build_dir.value, *world.files, digests).value();
  const Inventory published = take_inventory(world.settings.out.value, *world.files, digests).value();
  CHECK(built.is_build);
  CHECK_FALSE(published.is_build);
  CHECK(differences(built, published).empty());
  REQUIRE(built.find("one"));
  const InventoryOp& one = *built.find("one");
  CHECK(one.exports == std::vector<std::string>{"one_run"});
  REQUIRE(one.library);
  CHECK(one.library->bytes == world.files->identity(world.settings.out.value / "one.so")->size);
  CHECK(one.library->host_bytes() == one.library->bytes);
  REQUIRE(one.sources.size() == 1);
  CHECK_FALSE(one.sources[0].flags.empty());
  REQUIRE(built.timings);
  CHECK(built.timings->edges.size() == 6);

  // Another source, another bundle.
  world.write_source("two", "int more() { return 2; }\n");
  REQUIRE(world.build());
  const Inventory later = take_inventory(world.settings.out.value, *world.files, digests).value();
  const Lines changed = differences(published, later);
  REQUIRE_FALSE(changed.empty());
  CHECK(changed.front().starts_with("two: source two.cpp: SHA-256 "));
}

TEST_CASE("inventory: what is neither a bundle nor a build is refused, and a damaged plan too") {
  BuildWorld world;
  DigestMemo digests(*world.files, world.settings.cache_dir / "digests");
  const auto absent = take_inventory(world.folder.path() / "nothing", *world.files, digests);
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == "no_bundle_or_build");
  CHECK(absent.error().exit == Exit::usage);
  CHECK(absent.error().what == "there is no such folder");
  CHECK(take_inventory(world.folder.path() / "pack", *world.files, digests).error().code ==
        "no_bundle_or_build");
  REQUIRE(world.build());
  const Path plan = world.settings.build_dir.value / k_plan_file;
  REQUIRE(world.files->write_file(plan, "{\"schema\": 1}\n"));
  const auto damaged = take_inventory(world.settings.build_dir.value, *world.files, digests);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == "bad_build_file");
  CHECK(damaged.error().where == plan.string());
}
