#include "arch/arch_list.h"

#include <algorithm>

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

// The fault of the first vendor is told: the words of the others begin otherwise.
std::optional<std::string> add_entry(std::string_view word, ArchRequest& request) {
  const std::optional<std::string> fault = vendors().front()->add_entry(word, request);
  const bool is_known =
      !fault || std::any_of(vendors().begin() + 1, vendors().end(),
                            [&](const Vendor* vendor) { return !vendor->add_entry(word, request); });
  return is_known ? std::nullopt : fault;
}

}  // namespace

Result<ArchRequest> parse_arch_list(std::string_view text, const std::string& where) {
  if (text.size() > k_max_bytes) return too_long(where);
  const std::vector<Entry> entries = entries_of(text);
  if (entries.size() > k_max_entries) return too_long(where);
  if (entries.empty()) {
    return fail(Exit::usage, "empty_arch_list", where, "the architecture list is empty",
                "name at least one architecture, for example 8.0,9.0+PTX, or leave it out for the default");
  }
  ArchRequest request;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (const std::optional<std::string> fix = add_entry(entries[i].word, request)) {
      return unknown(where, entries[i], i + 1, *fix);
    }
  }
  return request;
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
  if (request.native && gpus.empty()) {
    return fail(Exit::unmet, "no_gpu", "--arch native",
                "architecture 'native' was asked for, but this machine shows no GPU",
                "name the architectures instead, for example --arch 8.0,9.0+PTX");
  }
  ArchSet resolved = request.targets;
  if (request.is_default) resolved = union_of(resolved, vendor.default_of(version));
  if (request.all) resolved = union_of(resolved, vendor.all_of(targets, false));
  if (request.all_major) resolved = union_of(resolved, vendor.all_of(targets, true));
  if (request.native) resolved = union_of(resolved, vendor.native_of(gpus));
  return resolved;
}

}  // namespace dsbuild
