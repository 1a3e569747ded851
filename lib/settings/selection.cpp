// Which ops the user named, before any op is known.
#include <algorithm>
#include <charconv>

#include "settings/values.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_prefix = "DS_BUILD_";

bool is_integer(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<Switch> switch_of(const std::string& variable, const std::string& text) {
  if (const auto parsed = parse_switch(text)) return *parsed;
  return fail(Exit::usage, "bad_switch", variable, "'" + printable(text) + "' is neither on nor off",
              "Use 1 or 0 (also true/false, on/off, yes/no, any integer; empty counts as unset).");
}

Result<void> read_variables(const Environment& environment, Selection& selection) {
  for (auto at = environment.lower_bound(std::string(k_prefix)); at != environment.end(); ++at) {
    const auto& [name, text] = *at;
    if (name.compare(0, k_prefix.size(), k_prefix) != 0) break;
    if (name == "DS_BUILD_STRING") continue;  // a version suffix, not a switch
    DSBUILD_TRY(value, switch_of(name, text));
    if (name == "DS_BUILD_OPS") {
      selection.build_ops = value;
    } else {
      selection.variables[name] = value;
    }
  }
  return {};
}

void sort_unique(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

Result<void> check_ops(const RawSetting& given, const Selection& selection) {
  if (!selection.all && selection.names.empty()) {
    return fail(Exit::usage, "empty_ops_list", given.origin, "the list of ops is empty",
                "Give 'all', or names of ops separated by commas.");
  }
  for (const std::string& name : selection.names) {
    if (std::binary_search(selection.without.begin(), selection.without.end(), name)) {
      return fail(Exit::usage, "contradicting_ops", given.origin,
                  "'" + printable(name) + "' is both named and left out",
                  "Keep either '" + printable(name) + "' or '-" + printable(name) + "'.");
    }
  }
  return {};
}

Result<void> read_ops(const RawSetting& given, Selection& selection) {
  selection.ops_given = true;
  selection.origin = given.origin;
  if (given.text.starts_with('@')) {  // its ops are read where the pack is known (take_workload)
    selection.workload_file = given.text.substr(1);
    return {};
  }
  for (const std::string& word : split(given.text, ",; \t\r\n")) {
    if (word == "all") {
      selection.all = true;
    } else if (word[0] == '-') {
      selection.without.push_back(word.substr(1));
    } else {
      selection.names.push_back(word);
    }
  }
  sort_unique(selection.names);
  sort_unique(selection.without);
  // A list that only leaves ops out leaves them out of all.
  if (selection.names.empty() && !selection.without.empty()) selection.all = true;
  return check_ops(given, selection);
}

bool environment_selects(const Selection& selection) {
  const auto is_on = [](const auto& variable) { return variable.second == Switch::on; };
  return selection.build_ops != Switch::unset ||
         std::any_of(selection.variables.begin(), selection.variables.end(), is_on);
}

}  // namespace

ArchSet Selection::archs_of(const std::string& op, const ArchSet& requested) const {
  const auto found = workload.find(op);
  const bool has_own = found != workload.end() && !found->second.archs.empty();
  return has_own ? intersection(requested, found->second.archs) : requested;
}

const std::string& Selection::origin_of(const std::string& op) const {
  const auto found = workload.find(op);
  return found == workload.end() ? origin : found->second.origin;
}

std::optional<Switch> parse_switch(std::string_view text) {
  const std::string word = to_lower(trim(text));
  if (word.empty()) return Switch::unset;
  if (word == "true" || word == "on" || word == "yes") return Switch::on;
  if (word == "false" || word == "off" || word == "no") return Switch::off;
  if (!is_integer(word)) return std::nullopt;
  const bool zero = word.find_first_of("123456789") == std::string::npos;
  return zero ? Switch::off : Switch::on;
}

Result<Selection> load_selection(const MaybeRawSetting& ops_argument, const Environment& environment,
                                 const ConfigEntries& config) {
  Selection selection;
  DSBUILD_CHECK(read_variables(environment, selection));
  MaybeRawSetting ops = ops_argument;
  // The environment is above the config file: its own selection replaces `ops:`.
  if (!ops && !environment_selects(selection)) ops = from_config(config, "ops");
  if (ops) DSBUILD_CHECK(read_ops(*ops, selection));
  return selection;
}

void select_all_of_named_pack(Settings& settings) {
  Selection& selection = settings.selection;
  if (settings.pack.is_default() || settings.add.value || selection.ops_given ||
      environment_selects(selection))
    return;
  selection.ops_given = selection.all = true;
  selection.origin = settings.pack.origin;
}

}  // namespace dsbuild
