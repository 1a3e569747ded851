// `flags:` -> Flags.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "registry/registry.h"
#include "registry/spec_reader.h"

namespace dsbuild {
namespace {

// Options of nvcc that people write with their value as the next word, as setup.py files do.
constexpr std::array k_with_value = {
    "-Xptxas",         "--ptxas-options",  "-Xcompiler",      "--compiler-options",
    "-Xfatbin",        "--fatbin-options", "-Xcudafe",        "-diag-suppress",
    "--diag-suppress", "-diag-warn",       "--diag-warn",     "-diag-error",
    "--diag-error",    "-maxrregcount",    "--maxrregcount",  "-t",
    "--threads",       "-default-stream",  "--default-stream"};

bool takes_value(const YamlNode& node) {
  return node.is_scalar() && nvcc_option_takes_value(node.scalar);
}

// "-Xptxas -v" -> "-Xptxas=-v"
void join_words(YamlNode& node) {
  const size_t blank = node.scalar.find(' ');
  if (blank == std::string::npos) return;
  YamlNode option = node;
  option.scalar.resize(blank);
  if (takes_value(option)) node.scalar = option.scalar + "=" + trim(node.scalar.substr(blank));
}

// [-Xptxas, -v] -> [-Xptxas=-v], likewise for one entry with a blank.
YamlNode with_joined_words(YamlNode list) {
  std::vector<YamlNode> items;
  for (YamlNode& item : list.items) {
    if (item.is_scalar() && !items.empty() && takes_value(items.back())) {
      items.back().scalar += "=" + item.scalar;
      continue;
    }
    if (item.is_scalar()) join_words(item);
    items.push_back(std::move(item));
  }
  list.items = std::move(items);
  return list;
}

Result<TextEntries> read_flag_list(const SpecFile& file, const YamlNode& flags, const std::string& key,
                                   FlagKind kind) {
  const YamlNode* list = flags.find(key);
  if (!list) return TextEntries{};
  const bool is_nvcc = kind == FlagKind::nvcc;
  const auto rule = [=](const std::string& flag) {
    return is_nvcc && is_job_control(flag) ? "" : flag_refusal(kind, flag);
  };
  DSBUILD_TRY(entries,
              read_entries(file, is_nvcc ? with_joined_words(*list) : *list, "'flags." + key + "'", rule));
  if (is_nvcc) std::erase_if(entries, [](const auto& entry) { return is_job_control(entry.value); });
  return entries;
}

}  // namespace

bool nvcc_option_takes_value(std::string_view option) {
  return std::ranges::find(k_with_value, option) != k_with_value.end();
}

// What a compile may use of the machine is the job control's business; no byte depends on it.
bool is_job_control(const std::string& flag) {
  return (flag.starts_with("-t=") || flag.starts_with("--threads=")) &&
         whole_number<int>(flag.substr(flag.find('=') + 1)).has_value();
}

bool is_for_device_link(const std::string& flag) {
  return flag == "-rdc=true" || flag == "--relocatable-device-code=true";
}

Result<Flags> read_flags(const SpecFile& file, const YamlNode& node) {
  Mistakes mistakes;
  Flags flags;
  mistakes.check(check_map(file, node, "'flags'", {"cxx", "nvcc", "hip", "sycl", "link"}));
  mistakes.take(read_flag_list(file, node, "cxx", FlagKind::cxx), flags.cxx);
  mistakes.take(read_flag_list(file, node, "nvcc", FlagKind::nvcc), flags.nvcc);
  mistakes.take(read_flag_list(file, node, "hip", FlagKind::hip), flags.hip);
  mistakes.take(read_flag_list(file, node, "sycl", FlagKind::sycl), flags.sycl);
  mistakes.take(read_flag_list(file, node, "link", FlagKind::link), flags.link);
  DSBUILD_CHECK(mistakes.result());
  return flags;
}

}  // namespace dsbuild
