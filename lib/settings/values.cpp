#include "settings/values.h"

#include <algorithm>
#include <set>

#include "arch/cpu_level.h"

namespace dsbuild {
namespace {

std::string in_quotes(const std::string& text) {
  return "'" + printable(text) + "'";
}

// How many bits a size's unit shifts it, or nullopt.
std::optional<int> unit_shift(const std::string& unit) {
  const std::string upper = to_upper(trim(unit));
  if (upper.empty() || upper == "B") return 0;
  const size_t place = std::string("KMGT").find(upper[0]);
  const std::string rest = upper.substr(1);
  if (place == std::string::npos || (!rest.empty() && rest != "B" && rest != "IB")) return std::nullopt;
  return static_cast<int>(place + 1) * 10;
}

// A number alone that nobody can mean as bytes: "8", where 8G is meant.
std::string with_unit(unsigned long long bytes) {
  constexpr unsigned long long k_least = 1 << 20, k_most_gigabytes = 256;
  if (bytes >= k_least) return "";
  return std::to_string(bytes) + (bytes < k_most_gigabytes ? "G" : "M");
}

// What people write for a word of a few: another's yes and no.
std::string other_word_for(const std::string& text, const std::vector<std::string>& choices) {
  const auto first_of = [&](std::initializer_list<const char*> words) -> std::string {
    for (const char* word : words)
      if (std::find(choices.begin(), choices.end(), word) != choices.end()) return word;
    return "";
  };
  switch (parse_switch(text).value_or(Switch::unset)) {
    case Switch::on:
      return first_of({"on", "always"});
    case Switch::off:
      return first_of({"off", "never", "none"});
    case Switch::unset:
      break;
  }
  return "";
}

std::string meant(const std::string& word) {
  return word.empty() ? "" : " (did you mean '" + word + "'?)";
}

const std::vector<std::string> k_accelerators = {"cuda", "cpu", "xpu"};
// What else DeepSpeed's get_accelerator knows (0.19.8).
const std::vector<std::string> k_foreign_accelerators = {"npu", "mps", "hpu", "mlu", "sdaa", "supa", "klxpu"};

// The option's name without dashes and value: "--gpu-code=sm_80" -> "gpu-code".
std::string option_name(const std::string& flag) {
  const size_t start = flag.find_first_not_of('-');
  if (start == 0 || start == std::string::npos) return "";
  return flag.substr(start, flag.find('=') - start);
}

bool names_an_arch(const std::string& flag) {
  static const std::set<std::string> options = {"gencode", "generate-code", "arch", "code"};
  const std::string name = option_name(flag);
  return options.count(name) > 0 || name.rfind("gpu-", 0) == 0;
}

}  // namespace

std::string ShardChoice::text() const {
  if (merges) return "merge";
  return is_share() ? std::to_string(number) + "/" + std::to_string(of) : "";
}

Result<ShardChoice> parse_shard(const RawSetting& given) {
  constexpr int k_most = 10'000;
  if (given.text == "merge") return ShardChoice{.merges = true};
  const std::vector<std::string> parts = split(given.text, "/");
  const auto number = parts.size() == 2 ? whole_number<int>(parts[0]) : std::nullopt;
  const auto of = parts.size() == 2 ? whole_number<int>(parts[1]) : std::nullopt;
  const auto refuse = [&](const std::string& why) {
    return fail(
        Exit::usage, "bad_shard", given.origin, in_quotes(given.text) + " " + why,
        "Give each machine its own of 1/8, 2/8 … 8/8, and after them `merge` to the one that makes the "
        "bundle.");
  };
  if (!number || !of) return refuse("is neither a shard's number, as in 3/8, nor merge");
  if (*of < 1 || *of > k_most) return refuse("is of " + parts[1] + " shards; there may be 1 to 10000");
  if (*number < 1) return refuse("is not a shard: the first is 1/" + parts[1]);
  if (*number > *of) return refuse("is not a shard: the last is " + parts[1] + "/" + parts[1]);
  return ShardChoice{*number, *of};
}

Result<bool> parse_bool(const RawSetting& given) {
  const std::optional<Switch> parsed = parse_switch(given.text);
  if (parsed == Switch::on) return true;
  if (parsed == Switch::off) return false;
  return fail(Exit::usage, "bad_switch", given.origin, in_quotes(given.text) + " is neither on nor off",
              "Use true or false.");
}

Result<int> parse_number(const RawSetting& given, int least) {
  const std::string text = trim(given.text);
  const std::optional<int> number = whole_number<int>(text);
  if (number && *number >= least) return *number;
  // "5s", "4.0"
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789"));
  const bool begins_well = digits != text && whole_number<int>(digits).value_or(least - 1) >= least;
  return fail(Exit::usage, "bad_number", given.origin,
              in_quotes(given.text) + " is not a whole number of at least " + std::to_string(least) +
                  meant(begins_well ? digits : ""),
              "Give one, or leave " + given.origin + " out.");
}

Result<unsigned long long> parse_size(const RawSetting& given) {
  const std::string text = trim(given.text);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = whole_number<unsigned long long>(text.substr(0, digits));
  const auto shift = unit_shift(text.substr(digits));
  const std::string better = digits == text.size() && number.value_or(0) > 0 ? with_unit(*number) : "";
  if (number && *number > 0 && shift && *number <= (~0ULL >> *shift) && better.empty())
    return *number << *shift;
  return fail(Exit::usage, "bad_size", given.origin,
              in_quotes(given.text) + (better.empty() ? " is not a size" : " means bytes" + meant(better)),
              "Use a number with K, M, G or T, as in 8G.");
}

Result<OpSizes> parse_op_sizes(const RawSetting& given) {
  OpSizes sizes;
  for (const std::string& word : split(given.text, ",")) {
    const size_t equals = word.find('=');
    const std::string op = equals == word.npos ? "" : trim(word.substr(0, equals));
    DSBUILD_TRY(bytes, parse_size({equals == word.npos ? word : word.substr(equals + 1), given.origin}));
    unsigned long long& place = op.empty() ? sizes.each : sizes.of[op];
    if (place > 0)
      return fail(Exit::usage, "bad_size", given.origin,
                  in_quotes(given.text) + " gives two sizes for one thing",
                  "Give one for each op, and one for an op by its name: 50M,scale=5M.");
    place = bytes;
  }
  if (sizes == OpSizes{}) return tl::unexpected<Error>(parse_size(given).error());
  return sizes;
}

Result<size_t> parse_choice(const RawSetting& given, const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), given.text);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  const std::string other = other_word_for(given.text, choices);
  return fail(Exit::usage, "bad_choice", given.origin,
              in_quotes(given.text) + " is not one of the choices" +
                  (other.empty() ? did_you_mean(given.text, choices) : meant(other)),
              "Choose " + join(choices, ", ") + ".");
}

Result<std::string> parse_non_blank(const RawSetting& given) {
  if (!trim(given.text).empty()) return given.text;
  return fail(Exit::usage, "empty_value", given.origin, "the value is empty",
              "Give a value or leave it out.");
}

Result<AcceleratorKind> parse_accelerator(const RawSetting& given) {
  if (given.text == "cuda") return AcceleratorKind::cuda;
  if (given.text == "cpu") return AcceleratorKind::cpu;
  if (given.text == "xpu") return AcceleratorKind::xpu;
  const auto& foreign = k_foreign_accelerators;
  if (std::find(foreign.begin(), foreign.end(), given.text) != foreign.end()) {
    return fail(Exit::unmet, "accelerator_not_built", given.origin,
                in_quotes(given.text) + " is not built by this version of dsbuild",
                "Use cuda, cpu or xpu, or unset it.");
  }
  return fail(Exit::usage, "unknown_accelerator", given.origin,
              in_quotes(given.text) + " is not an accelerator" + did_you_mean(given.text, k_accelerators),
              "Use cuda, cpu or xpu, or unset it.");
}

Result<std::vector<std::string>> parse_nvcc_flags(const RawSetting& given) {
  std::vector<std::string> flags = split(given.text, " \t\r\n");
  const auto bad = std::find_if(flags.begin(), flags.end(), names_an_arch);
  if (bad == flags.end()) return flags;
  return fail(Exit::usage, "arch_in_nvcc_flags", given.origin,
              in_quotes(*bad) + " names an architecture; what is built would differ from the plan",
              "Take it out of " + given.origin + " and ask for architectures with --arch.");
}

std::string without_password(const std::string& url) {
  const size_t at = url.rfind('@'), colon = url.find("://");
  if (at == std::string::npos) return url;
  const std::string scheme = colon < at ? url.substr(0, colon + 3) : "";
  return scheme + "***" + url.substr(at);
}

std::string cpu_baseline_values() {
  std::string values = "native";
  for (const CpuLevel& level : cpu_levels())
    values += "|" + level.name;
  return values;
}

std::string variable_name_refusal(const std::string& text) {
  const std::string name = text.ends_with('*') ? text.substr(0, text.size() - 1) : text;
  const auto may_begin = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const bool is_name = !name.empty() && may_begin(name.front()) && std::ranges::all_of(name, [&](char c) {
    return may_begin(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  return is_name ? ""
                 : "is not a name of a variable (letters, digits and '_'; '*' at its end: all that begin so)";
}

Result<std::vector<std::string>> parse_variable_names(const RawSetting& given) {
  std::vector<std::string> names = split(given.text, " \t\r\n,;");
  for (const std::string& name : names)
    if (const std::string reason = variable_name_refusal(name); !reason.empty())
      return fail(Exit::usage, "bad_variable", given.origin, in_quotes(name) + " " + reason,
                  "Write names of variables, as in SITE_FLAGS,SITE_GCC_*.");
  return names;
}

Result<std::vector<std::string>> parse_files(const RawSetting& given) {
  DSBUILD_TRY(text, parse_non_blank(given));
  return split(text, ",");
}

Result<std::string> parse_uri(const RawSetting& given) {
  const size_t scheme = given.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.");
  const bool is_uri = scheme != std::string::npos && scheme > 0 && given.text[scheme] == ':' &&
                      given.text.size() > scheme + 1 &&
                      std::ranges::all_of(given.text, [](char c) { return c > ' ' && c <= '~'; });
  if (is_uri) return given.text;
  return fail(Exit::usage, "bad_uri", given.origin, "'" + printable(given.text) + "' is not a URI",
              "Give one with its scheme: https://example.com/builders/gpu.");
}

Result<std::string> parse_remote_tools(const RawSetting& given) {
  const std::string text = trim(given.text);
  if (text == "upload" || text.starts_with(k_worker_tools + std::string("/"))) return text;
  return fail(Exit::usage, "bad_choice", given.origin,
              in_quotes(text) + " is neither 'upload' nor 'worker:' and an absolute path",
              "Give upload, or the toolkit on the workers, as in worker:/usr/local/cuda.");
}

Result<std::vector<std::string>> parse_platform(const RawSetting& given) {
  DSBUILD_TRY(text, parse_non_blank(given));
  std::vector<std::string> properties = split(text, ",");
  for (std::string& property : properties) {
    property = trim(property);
    if (const size_t equals = property.find('='); equals == std::string::npos || equals == 0)
      return fail(Exit::usage, "bad_platform", given.origin, in_quotes(property) + " is not NAME=VALUE",
                  "Write properties of the service's workers, as in OSFamily=linux,pool=large.");
  }
  return properties;
}

}  // namespace dsbuild
