#include "arch/arch_list.h"

#include <algorithm>

#include "arch/arch_entries.h"
#include "arch/vendor.h"
#include "base/text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_separators = ";, \t\r\n\v\f";
constexpr size_t k_max_bytes = size_t{64} * 1024;
constexpr size_t k_max_entries = 1024;
constexpr size_t k_max_shown = 40;

struct Entry {
  std::string_view word;
  size_t character = 0;  // 1-based, of its first one
};

std::vector<Entry> entries_of(std::string_view text) {
  std::vector<Entry> entries;
  size_t start = text.find_first_not_of(k_separators);
  while (start != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(k_separators, start), text.size());
    entries.push_back({text.substr(start, end - start), start + 1});
    start = text.find_first_not_of(k_separators, end);
  }
  return entries;
}

// A word from outside, fit for a message: short and without control characters.
std::string shown(std::string_view word) {
  const std::string text = printable(word.substr(0, k_max_shown));
  return word.size() > k_max_shown ? text + "..." : text;
}

tl::unexpected<Error> too_long(const std::string& where) {
  return fail(Exit::usage, "arch_list_too_long", where,
              "the architecture list is longer than " + std::to_string(k_max_entries) + " entries or 64 KiB",
              "name each architecture once; 'all' stands for every one of the toolkit");
}

tl::unexpected<Error> unknown(const std::string& where, const Entry& entry, size_t number,
                              const std::string& fix) {
  return fail(Exit::usage, "unknown_arch", where,
              "unknown architecture '" + shown(entry.word) + "' (entry " + std::to_string(number) +
                  ", character " + std::to_string(entry.character) + ")",
              fix);
}

bool add_word(std::string_view word, ArchRequest& request) {
  const std::string lower = to_lower(word);
  if (lower == "native") return request.native = true;
  if (lower == "all") return request.all = true;
  if (lower == "all-major") return request.all_major = true;
  return false;
}

bool add_gpu(std::string_view word, ArchRequest& request) {
  const std::string lower = to_lower(word);
  for (const Vendor* vendor : vendors())
    if (const std::optional<Target> gpu = vendor->gpu_called(lower))
      return request.targets.insert(*gpu), true;
  return false;
}

// Of what no vendor knows, the fault that the vendor tells whose word it was meant to be: the first one where
// it is like none of the others'.
std::optional<std::string> add_entry(std::string_view word, ArchRequest& request) {
  if (add_word(word, request)) return std::nullopt;
  std::string fault;
  bool is_meant = false;
  for (const Vendor* vendor : vendors()) {
    const std::optional<std::string> own = vendor->add_entry(word, request);
    if (!own) return std::nullopt;
    const bool is_first = vendor == vendors().front();
    if (is_first || (!is_meant && vendor->resembles(word))) fault = *own;
    is_meant = is_meant || (!is_first && vendor->resembles(word));
  }
  return fault;
}

Result<void> check_conflicts(const ArchSet& targets, const std::string& where) {
  for (const Vendor* vendor : vendors_of(targets)) {
    const auto conflict = vendor->conflict_in(targets_of(targets, *vendor));
    if (!conflict) continue;
    return fail(Exit::usage, "conflicting_archs", where, *conflict, "name one of the two");
  }
  return {};
}

}  // namespace

Result<ArchRequest> parse_arch_entries(std::string_view text, const std::string& where, EntriesOf names) {
  if (text.size() > k_max_bytes) return too_long(where);
  const std::vector<Entry> entries = entries_of(text);
  if (entries.size() > k_max_entries) return too_long(where);
  if (entries.empty()) {
    return fail(Exit::usage, "empty_arch_list", where, "the architecture list is empty",
                "name at least one architecture, for example 8.0,9.0+PTX, or leave it out for the default");
  }
  ArchRequest request;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (names == EntriesOf::gpus && add_gpu(entries[i].word, request)) continue;
    if (const std::optional<std::string> fix = add_entry(entries[i].word, request)) {
      return unknown(where, entries[i], i + 1, *fix);
    }
  }
  return request;
}

Result<ArchRequest> parse_arch_list(std::string_view text, const std::string& where) {
  DSBUILD_TRY(request, parse_arch_entries(text, where));
  DSBUILD_CHECK(check_conflicts(request.targets, where));
  return request;
}

std::vector<const Vendor*> vendors_of(const ArchRequest& request, const std::vector<Target>& gpus) {
  ArchSet named = request.targets;
  if (request.native) named.insert(gpus.begin(), gpus.end());
  return named.empty() ? std::vector{vendors().front()} : vendors_of(named);
}

ArchRequest request_of(const ArchRequest& request, const Vendor& vendor) {
  ArchRequest own = request;
  own.targets = targets_of(request.targets, vendor);
  return own;
}

ArchSet native_archs(const std::vector<Target>& gpus) {
  const ArchSet all(gpus.begin(), gpus.end());
  ArchSet native;
  for (const Vendor* vendor : vendors_of(all)) {
    const ArchSet own = targets_of(all, *vendor);
    native = union_of(native, vendor->native_of({own.begin(), own.end()}));
  }
  return native;
}

Result<ArchSet> resolve_arch_request(const ArchRequest& request, const Vendor& vendor, const ArchSet& targets,
                                     int version, const std::vector<Target>& gpus) {
  const ArchSet visible = targets_of({gpus.begin(), gpus.end()}, vendor);
  const bool is_for_others = !gpus.empty() && !targets_of(request.targets, vendor).empty();
  if (request.native && visible.empty() && !is_for_others) {
    return fail(Exit::unmet, "no_gpu", "--arch native",
                "architecture 'native' was asked for, but this machine shows no GPU",
                "name the architectures instead, for example --arch 8.0,9.0+PTX");
  }
  ArchSet resolved = targets_of(request.targets, vendor);
  if (request.is_default) resolved = union_of(resolved, vendor.default_of(version));
  if (request.all) resolved = union_of(resolved, vendor.all_of(targets, false));
  if (request.all_major) resolved = union_of(resolved, vendor.all_of(targets, true));
  if (request.native) resolved = union_of(resolved, vendor.native_of({visible.begin(), visible.end()}));
  DSBUILD_CHECK(check_conflicts(resolved, "--arch"));
  return resolved;
}

}  // namespace dsbuild
