// Which valid entry an invalid one may have meant.
#include <algorithm>
#include <cstdlib>

#include "arch/nvidia_entry.h"
#include "base/text.h"

namespace dsbuild {
namespace {

using namespace entry_grammar;

// 90 for 9.0; a lone major ("8", "10") is read as X.0.
int rank(ComputeCapability cc) {
  return cc.major * 10 + cc.minor;
}

std::optional<int> rank_of(std::string_view number) {
  std::string digits(number.substr(0, number.find_first_not_of("0123456789.")));
  const bool has_dot = digits.find('.') != std::string::npos;
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  if (digits.empty() || digits.size() > 4) return std::nullopt;
  const int value = std::stoi(digits);
  const bool lone_major = !has_dot && value < rank(arch_table().front().cc);
  return lone_major ? value * 10 : value;
}

const ArchRow& nearest_row(int wanted, Suffix suffix) {
  const ArchRow* best = nullptr;
  for (const ArchRow& row : arch_table()) {
    if (row.first_for(suffix) == 0) continue;
    if (!best || std::abs(rank(row.cc) - wanted) < std::abs(rank(best->cc) - wanted)) best = &row;
  }
  return *best;
}

// The suffix counts only where nothing follows it: "9.0ab" has none.
Suffix suffix_of(std::string_view number) {
  const size_t after_digits = number.find_first_not_of("0123456789.");
  if (after_digits == std::string_view::npos || after_digits + 1 != number.size()) return Suffix::none;
  if (number.back() == 'a') return Suffix::a;
  return number.back() == 'f' ? Suffix::f : Suffix::none;
}

std::string_view strip_kinds(std::string_view text, Kind& first) {
  first = Kind::none;
  for (Kind kind = take_kind(text); kind != Kind::none; kind = take_kind(text))
    first = kind;
  return text;
}

std::string kind_text(Kind kind) {
  switch (kind) {
    case Kind::plus_ptx:
      return "+PTX";
    case Kind::real_only:
      return "-real";
    case Kind::ptx_only:
      return "-virtual";
    case Kind::none:
      break;
  }
  return "";
}

std::string nearest_number(std::string_view number, std::optional<CodeKind> prefix, Kind kind) {
  const std::optional<int> wanted = rank_of(number);
  if (!wanted) return "";
  const Suffix suffix = suffix_of(number);
  const Target target =
      NvidiaTarget{nearest_row(*wanted, suffix).cc, suffix, prefix.value_or(CodeKind::real)};
  if (prefix) return target.name();
  return target.text() + kind_text(kind);
}

std::string nearest_word(std::string_view word) {
  std::vector<std::string> candidates;
  for (const NameRow& row : k_names)
    candidates.emplace_back(row.name);
  for (const std::string_view known : k_words)
    candidates.emplace_back(known);
  return nearest(word, candidates);
}

bool is_valid(const std::string& entry) {
  ArchRequest request;
  return !add_nvidia_entry(entry, request);
}

// Names of GPUs, as far as people write them: lower case, without what stands before ("NVIDIA RTX …") and
// without blanks and dashes. Of one CC the best known first: the page names a column by it. Source: NVIDIA's
// list of GPUs and their compute capabilities.
struct GpuRow {
  std::string_view name;
  const char* cc;
};
constexpr GpuRow k_gpus[] = {
    {"p100", "6.0"},   {"p40", "6.1"},    {"p4", "6.1"},    {"1080", "6.1"},   {"v100", "7.0"},
    {"titanv", "7.0"}, {"xavier", "7.2"}, {"t4", "7.5"},    {"2080", "7.5"},   {"8000", "7.5"},
    {"a100", "8.0"},   {"a800", "8.0"},   {"a30", "8.0"},   {"a10", "8.6"},    {"a40", "8.6"},
    {"a16", "8.6"},    {"a2", "8.6"},     {"a10g", "8.6"},  {"a4000", "8.6"},  {"a5000", "8.6"},
    {"a6000", "8.6"},  {"3060", "8.6"},   {"3070", "8.6"},  {"3080", "8.6"},   {"3090", "8.6"},
    {"orin", "8.7"},   {"l40s", "8.9"},   {"l40", "8.9"},   {"l4", "8.9"},     {"l20", "8.9"},
    {"4060", "8.9"},   {"4070", "8.9"},   {"4080", "8.9"},  {"4090", "8.9"},   {"h100", "9.0"},
    {"h200", "9.0"},   {"h800", "9.0"},   {"h20", "9.0"},   {"gh200", "9.0"},  {"b200", "10.0"},
    {"b100", "10.0"},  {"gb200", "10.0"}, {"b300", "10.3"}, {"gb300", "10.3"}, {"thor", "11.0"},
    {"5090", "12.0"},  {"5080", "12.0"},  {"5070", "12.0"}, {"5060", "12.0"},  {"gb10", "12.1"},
};

// "h100-sxm5-80gb" is that GPU, "a1000" is not an A100.
bool is_model_of(std::string_view word, std::string_view name) {
  if (word.substr(0, name.size()) != name) return false;
  return word.size() == name.size() || word[name.size()] < '0' || word[name.size()] > '9';
}

std::string entry_of_gpu(std::string_view lower) {
  std::string word(lower);
  for (const char* mark : {" ", "-", "_"})
    word = replace_all(word, mark, "");
  const std::string whole = word;
  for (const std::string_view maker : {"nvidia", "geforce", "quadro", "tesla", "jetson", "rtx", "gtx"})
    if (word.substr(0, maker.size()) == maker) word.erase(0, maker.size());
  const GpuRow* best = nullptr;
  for (const GpuRow& row : k_gpus)
    if (is_model_of(word, row.name) && (!best || row.name.size() > best->name.size())) best = &row;
  // A number alone is none of a GPU.
  const bool is_number =
      !best || (word == whole && best->name.find_first_not_of("0123456789") == best->name.npos);
  return is_number ? "" : best->cc;
}

// "8.0/9.0": one list.
std::string entries_between(std::string_view lower) {
  for (const char* separator : {"/", "|", ":", "&"}) {
    const std::vector<std::string> parts = split(std::string(lower), separator);
    if (parts.size() < 2 || !std::all_of(parts.begin(), parts.end(), is_valid)) continue;
    return join(parts, ",");
  }
  return "";
}

// "8.0ptx", "8.0-ptx".
std::string with_plus(std::string_view lower) {
  constexpr std::string_view k_end = "ptx";
  if (!lower.ends_with(k_end)) return "";
  std::string_view number = lower.substr(0, lower.size() - k_end.size());
  if (!number.empty() && (number.back() == '-' || number.back() == '_')) number.remove_suffix(1);
  if (number.empty() || number.back() == '+') return "";
  const std::string entry = std::string(number) + "+PTX";
  return is_valid(entry) ? entry : "";
}

// "sm90", "sm-90", "compute80", "cc9.0".
std::string with_underscore(std::string_view lower) {
  for (const auto& [start, prefix] :
       {std::pair<std::string_view, const char*>{"sm", "sm_"}, {"compute", "compute_"}, {"cc", ""}}) {
    if (!lower.starts_with(start)) continue;
    std::string_view digits = lower.substr(start.size());
    if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
    const bool has_digits = !digits.empty() && digits.front() >= '0' && digits.front() <= '9';
    const std::string entry = prefix + std::string(digits);
    if (has_digits && is_valid(entry)) return entry;
  }
  return "";
}

// As entry_of_gpu takes it: a number alone is none of a GPU.
std::string product_name(std::string_view name) {
  const bool is_number = name.find_first_not_of("0123456789") == name.npos;
  return is_number ? "RTX" + std::string(name) : to_upper(std::string(name));
}

}  // namespace

std::optional<Target> nvidia_gpu_called(std::string_view product) {
  const std::string entry = entry_of_gpu(product);
  return entry.empty() ? std::nullopt : nvidia().parse_text(entry);
}

std::vector<ArchWord> nvidia_gpu_names() {
  std::vector<ArchWord> names;
  for (const GpuRow& row : k_gpus)
    names.push_back({product_name(row.name), row.cc});
  return names;
}

std::string nearest_nvidia_entry(std::string_view entry) {
  const std::string lower = to_lower(entry);
  for (const auto& meant : {entries_between, with_plus, with_underscore, entry_of_gpu})
    if (std::string found = meant(lower); !found.empty()) return found;
  std::string_view rest = lower;
  const std::optional<CodeKind> prefix = take_prefix(rest);
  Kind kind = Kind::none;
  rest = strip_kinds(rest, kind);
  std::string number = nearest_number(rest, prefix, kind);
  if (!number.empty()) return number;
  std::string whole = nearest_word(lower);
  return whole.empty() ? nearest_word(rest) : whole;
}

}  // namespace dsbuild
