// Rules that hold for every list: 1,000 random ones each.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "arch/amd.h"
#include "arch/intel.h"
#include "arch/nvidia.h"
#include "base/text.h"
#include "support/sample.h"

using namespace dsbuild;

namespace {

constexpr int k_rounds = 1000;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(engine_); }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

// Every target that the grammar knows.
std::vector<Target> known_targets() {
  std::vector<Target> targets;
  for (const ArchRow& row : arch_table()) {
    for (const Suffix suffix : {Suffix::none, Suffix::a, Suffix::f}) {
      if (row.first_for(suffix) == 0) continue;
      targets.push_back(NvidiaTarget{row.cc, suffix, CodeKind::real});
      targets.push_back(NvidiaTarget{row.cc, suffix, CodeKind::ptx});
    }
  }
  return targets;
}

ArchSet random_set(Random& random) {
  static const std::vector<Target> known = known_targets();
  ArchSet set;
  const size_t count = 1 + random.below(8);
  for (size_t i = 0; i < count; ++i)
    set.insert(random.one_of(known));
  return nvidia().conflict_in(set) ? random_set(random) : set;
}

std::string random_case(std::string text, Random& random) {
  const size_t choice = random.below(3);
  return choice == 0 ? text : choice == 1 ? to_lower(text) : to_upper(text);
}

std::string random_spelling(const Target& target, Random& random) {
  const std::string digits = virtual_name(target).substr(std::string("compute_").size());
  const Target real = target.machine();
  if (target.is_virtual()) {
    return random.one_of<std::string>({target.name(), target.text(), digits + "-virtual"});
  }
  return random.one_of<std::string>(
      {target.name(), real.text(), digits, digits + "-real", real.text() + "-real"});
}

// Any order, any spelling, some entries twice, any separators; a pair sometimes as one "+PTX".
std::string random_list(const ArchSet& set, Random& random) {
  std::vector<std::string> words;
  for (const Target& target : set) {
    const size_t copies = 1 + random.below(2);
    for (size_t i = 0; i < copies; ++i)
      words.push_back(random_case(random_spelling(target, random), random));
    NvidiaTarget ptx = nvidia_target(target);
    ptx.kind = CodeKind::ptx;
    if (!target.is_virtual() && set.count(ptx) > 0) {
      words.push_back(random_case(target.text() + "+PTX", random));
    }
  }
  random.shuffle(words);
  std::string list;
  for (const std::string& word : words) {
    list += random.one_of<std::string>({";", ",", " ", "\t", ";;", " ; ", "\n", ", "}) + word;
  }
  return list;
}

}  // namespace

TEST_CASE("Order, duplicates and spelling never change the parsed set") {
  Random random(sample_seed());
  for (int round = 0; round < k_rounds; ++round) {
    const ArchSet set = random_set(random);
    const std::string list = random_list(set, random);
    CAPTURE(round, list);
    const auto request = parse_arch_list(list, "test");
    REQUIRE(request);
    REQUIRE(target_names(request->targets) == target_names(set));
    REQUIRE(request->explicit_only());
  }
}

TEST_CASE("Every printed form of a set is accepted and means the same set") {
  Random random(sample_seed());
  for (int round = 0; round < k_rounds; ++round) {
    const ArchSet set = random_set(random);
    for (const std::string& text : {arch_list(set), arch_text(set), target_names(set)}) {
      CAPTURE(round, text);
      const auto request = parse_arch_list(text, "test");
      REQUIRE(request);
      REQUIRE(request->targets == set);
    }
  }
}

TEST_CASE(
    "Lists of all vendors are read in any order and case, split by vendor, and printed as the same set") {
  Random random(sample_seed());
  std::vector<Target> known = known_targets();
  for (const ArchSet& more : {targets_of_clang(22), intel().known_gpus(), ArchSet{spir64()}})
    known.insert(known.end(), more.begin(), more.end());
  size_t conflicts = 0;
  for (int round = 0; round < k_rounds; ++round) {
    ArchSet set;
    for (size_t i = 1 + random.below(8); i > 0; --i)
      set.insert(random.one_of(known));
    std::vector<std::string> words;
    for (const Target& target : set)
      words.push_back(random_case(target.text(), random));
    random.shuffle(words);
    const std::string list = join(words, random.one_of<std::string>({";", ",", " ", " ; "}));
    CAPTURE(round, list);
    const auto request = parse_arch_list(list, "test");
    if (amd().conflict_in(targets_of(set, amd())) || nvidia().conflict_in(targets_of(set, nvidia()))) {
      ++conflicts;
      REQUIRE(request.error().code == "conflicting_archs");
      continue;
    }
    REQUIRE(request.value().targets == set);
    ArchSet parts;
    for (const Vendor* vendor : vendors_of(*request, {}))
      parts = union_of(parts, request_of(*request, *vendor).targets);
    REQUIRE(parts == set);
    REQUIRE(parse_arch_list(arch_list(set), "test").value().targets == set);
  }
  CHECK(conflicts > 0);
}

TEST_CASE("Code for AMD's runs as what it names says, whatever else it names") {
  Random random(sample_seed());
  const ArchSet all = targets_of_clang(22);
  const std::vector<Target> known(all.begin(), all.end());
  for (int round = 0; round < k_rounds; ++round) {
    const Target image = random.one_of(known), gpu = random.one_of(known);
    CAPTURE(round, image.text(), gpu.text());
    REQUIRE(runs_on(image, image) == Runs::natively);
    // Naming less never takes a GPU away.
    if (runs_on(image, gpu) != Runs::not_at_all) REQUIRE(runs_on(image.plain(), gpu) == runs_on(image, gpu));
    REQUIRE((runs_on(image, gpu) == Runs::natively) == image.stands_for(gpu));
  }
}

TEST_CASE("Random bytes are read or refused with a message, never worse") {
  Random random(sample_seed());
  const std::string alphabet = "0123456789..++--__afsmcomputePTXrealvirtualnativeall; ,\xff\x1b";
  size_t refused = 0;
  for (int round = 0; round < k_rounds; ++round) {
    std::string text;
    const size_t length = random.below(24);
    for (size_t i = 0; i < length; ++i)
      text += alphabet[random.below(alphabet.size())];
    CAPTURE(round, text);
    const auto request = parse_arch_list(text, "test");
    if (request) continue;
    ++refused;
    REQUIRE_FALSE(request.error().what.empty());
    REQUIRE_FALSE(request.error().fix.empty());
  }
  CHECK(refused > k_rounds / 2);
}
