// Expected values are from docs/reference/op_yaml.md and the design's rules, written out by hand.
#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "registry/arch_pattern.h"
#include "registry/op_spec.h"

namespace dsbuild {
namespace {

ArchSet targets(const std::string& names) {
  ArchSet set;
  for (const std::string& name : split(names, " "))
    set.insert(parse_target_name(name).value());
  return set;
}

std::vector<ArchPattern> patterns(const std::string& texts) {
  std::vector<ArchPattern> all;
  for (const std::string& text : split(texts, " "))
    all.push_back(parse_arch_pattern(text).value());
  return all;
}

std::string dropped_text(const FilteredArchs& filtered) {
  std::vector<std::string> texts;
  for (const DroppedArch& drop : filtered.dropped)
    texts.push_back(drop.target.name() + ": " + drop.reason);
  return join(texts, "; ");
}

const ArchSet k_request = targets("sm_70 sm_80 compute_80 sm_90");

TEST_CASE("an empty filter keeps all that is requested") {
  CHECK(apply_filter({}, k_request).kept == k_request);
  CHECK(apply_filter({}, k_request).dropped.empty());
  CHECK(ArchFilter{}.text() == "");
}

TEST_CASE("min and max compare the compute capability and treat machine code and PTX alike") {
  ArchFilter filter;
  filter.min = NvidiaTarget{{8, 0}};
  CHECK(target_names(apply_filter(filter, k_request).kept) == "sm_80 compute_80 sm_90");
  CHECK(dropped_text(apply_filter(filter, k_request)) == "sm_70: needs >= 8.0");
  CHECK(apply_filter(filter, targets("sm_75 compute_75")).kept.empty());
  filter.max = NvidiaTarget{{8, 9}};
  CHECK(target_names(apply_filter(filter, k_request).kept) == "sm_80 compute_80");
  CHECK(filter.text() == ">= 8.0, <= 8.9");
  CHECK(apply_filter(filter, targets("sm_100")).kept.empty());
}

TEST_CASE("only and exclude match a number with its suffix, and one kind where that is named") {
  ArchFilter filter;
  filter.only = patterns("8.0");
  CHECK(target_names(apply_filter(filter, k_request).kept) == "sm_80 compute_80");
  CHECK(dropped_text(apply_filter(filter, k_request)) == "sm_70: only 8.0; sm_90: only 8.0");
  filter.only = patterns("9.0a");
  CHECK(target_names(apply_filter(filter, targets("sm_90 sm_90a compute_90a sm_100a")).kept) ==
        "sm_90a compute_90a");
  CHECK(filter.text() == "only 9.0a");
  filter = {};
  filter.exclude = patterns("8.0-virtual 7.0");
  CHECK(target_names(apply_filter(filter, k_request).kept) == "sm_80 sm_90");
  filter.exclude = patterns("8.0-real");
  CHECK(target_names(apply_filter(filter, k_request).kept) == "sm_70 compute_80 sm_90");
  CHECK(dropped_text(apply_filter(filter, k_request)) == "sm_80: excludes 8.0-real");
}

TEST_CASE("specialise builds sm_90a where sm_90 is asked for, and remembers it") {
  ArchFilter filter;
  filter.specialise = patterns("9.0a");
  const FilteredArchs filtered = apply_filter(filter, targets("sm_80 sm_90 compute_90"));
  CHECK(target_names(filtered.kept) == "sm_80 compute_90 sm_90a");
  CHECK(filtered.specialised ==
        std::map<Target, Target>{{parse_target_name("sm_90a").value(), parse_target_name("sm_90").value()}});
  CHECK(apply_filter(filter, targets("sm_90a")).specialised.empty());
  filter.specialise = patterns("9.0a-virtual");
  CHECK(target_names(apply_filter(filter, targets("sm_90 compute_90")).kept) == "sm_90 compute_90a");
}

TEST_CASE("the other conditions see the target after specialise, and a drop names what was asked for") {
  ArchFilter filter;
  filter.specialise = patterns("9.0a");
  filter.only = patterns("9.0a");
  const FilteredArchs filtered = apply_filter(filter, targets("sm_80 sm_90"));
  CHECK(target_names(filtered.kept) == "sm_90a");
  CHECK(dropped_text(filtered) == "sm_80: only 9.0a");
  filter.only = patterns("9.0");
  CHECK(dropped_text(apply_filter(filter, targets("sm_90"))) == "sm_90: only 9.0");
}

TEST_CASE("the words of archs and when are read exactly") {
  for (const char* text : {"8.0", "12.1", "9.0a", "10.0f", "9.0a-real", "8.0-virtual"}) {
    REQUIRE(parse_arch_pattern(text));
    CHECK(parse_arch_pattern(text)->text() == text);
  }
  for (const char* text :
       {"", "8", "80", "8.", ".0", "8.00", "123.0", "8.0b", "8.0+PTX", "sm_80", " 8.0", "8.0-", "-1.0"}) {
    CHECK_FALSE(parse_arch_pattern(text));
  }
  for (const char* text : {">=8.0", ">= 8.0", "<9.0", "==8.0", "<=8.0", ">7.0", "9.0a", "9.0-real"}) {
    CHECK(parse_arch_condition(text));
  }
  for (const char* text : {">=", "=8.0", "!=8.0", ">=9.0a", ">=8", "any"})
    CHECK_FALSE(parse_arch_condition(text));
}

When when_arch(const std::string& any, const std::string& every) {
  When when;
  when.any_arch = any;
  when.every_arch = every;
  return when;
}

bool holds_for(const When& when, const std::string& names) {
  WhenContext context;
  context.archs = targets(names);
  return holds(when, context);
}

TEST_CASE("any_arch asks for one target of the op, every_arch for all; an empty set satisfies neither") {
  CHECK(holds_for(when_arch("9.0a", ""), "sm_80 sm_90a"));
  CHECK_FALSE(holds_for(when_arch("9.0a", ""), "sm_80 sm_90"));
  CHECK(holds_for(when_arch("", ">=8.0"), "sm_80 compute_80 sm_90a"));
  CHECK_FALSE(holds_for(when_arch("", ">=8.0"), "sm_75 sm_80"));
  CHECK_FALSE(holds_for(when_arch(">=8.0", ">=8.0"), ""));
  CHECK_FALSE(holds_for(when_arch("", ">=8.0"), ""));
  CHECK(holds_for(when_arch("<8.0", ""), "sm_75 sm_80"));
  CHECK_FALSE(holds_for(when_arch("<8.0", ""), "sm_80"));
  CHECK(holds_for(when_arch("", "<=8.0"), "sm_80"));
  CHECK_FALSE(holds_for(when_arch("", ">8.0"), "sm_80"));
  CHECK(holds_for(when_arch("==8.0", ""), "compute_80"));
}

TEST_CASE("all conditions of a when must hold, and an unknown version makes its condition false") {
  When when;
  CHECK(when.empty());
  CHECK(holds(when, {}));
  when.cuda = parse_version_range(">=12.0", "").value();
  CHECK_FALSE(when.empty());
  WhenContext context;
  CHECK_FALSE(holds(when, context));
  context.cuda = parse_version("12.4").value();
  CHECK(holds(when, context));
  when.cpu = "aarch64";
  context.cpu = "x86_64";
  CHECK_FALSE(holds(when, context));
  context.cpu = "aarch64";
  CHECK(holds(when, context));
  when.torch = parse_version_range(">=2.0", "").value();
  CHECK_FALSE(holds(when, context));
  when.torch.reset();
  when.source = parse_version_range("<0.19.8", "").value();
  context.source = parse_version("0.19.6").value();
  CHECK(holds(when, context));
}

TEST_CASE("cpu_level compares the number of the CPU level") {
  When when;
  when.cpu_level = parse_version_range(">=3,<4", "").value();
  WhenContext context;
  CHECK_FALSE(holds(when, context));
  context.cpu_level.number = parse_version("3").value();
  CHECK(holds(when, context));
  context.cpu_level.number = parse_version("4").value();
  CHECK_FALSE(holds(when, context));
}

}  // namespace
}  // namespace dsbuild
