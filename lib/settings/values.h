// Text -> value for settings; every error is exit 2 and names where the text came from.
// Private to this stage.
#pragma once

#include <string>
#include <vector>

#include "settings/raw_setting.h"
#include "settings/settings.h"

namespace dsbuild {

Result<bool> parse_bool(const RawSetting& given);
// A whole number of at least `least`. Code `bad_number`.
Result<int> parse_number(const RawSetting& given, int least);
// "8G", "512 MiB", "1048576": bytes; a small number without unit is refused. Code `bad_size`.
Result<unsigned long long> parse_size(const RawSetting& given);
// "50M,scale=5M": of each op, and of one. Code `bad_size`.
Result<OpSizes> parse_op_sizes(const RawSetting& given);
// The place of the word among `choices`. Code `bad_choice`.
Result<size_t> parse_choice(const RawSetting& given, const std::vector<std::string>& choices);
// A text that may not be blank. Code `empty_value`.
Result<std::string> parse_non_blank(const RawSetting& given);
Result<AcceleratorKind> parse_accelerator(const RawSetting& given);
// NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS: split at blanks; a flag that names an arch is an error.
Result<std::vector<std::string>> parse_nvcc_flags(const RawSetting& given);

// "native|x86-64-v2|…": what --cpu-baseline takes.
std::string cpu_baseline_values();
// Names of variables, at blanks, commas or semicolons; a '*' at the end stands for all that begin so. Code
// `bad_variable`.
Result<std::vector<std::string>> parse_variable_names(const RawSetting& given);

// "3/8" or "merge". Code `bad_shard`.
Result<ShardChoice> parse_shard(const RawSetting& given);
// Files, at commas. Code `empty_value`.
Result<std::vector<std::string>> parse_files(const RawSetting& given);

// An absolute URI. Code `bad_uri`.
Result<std::string> parse_uri(const RawSetting& given);
// "upload", or "worker:" and an absolute path. Code `bad_choice`.
Result<std::string> parse_remote_tools(const RawSetting& given);
// "NAME=VALUE", at commas. Code `bad_platform`.
Result<std::vector<std::string>> parse_platform(const RawSetting& given);

// --ops, ops:, DS_BUILD_OPS and DS_BUILD_<OP>.
Result<Selection> load_selection(const MaybeRawSetting& ops_argument, const Environment& environment,
                                 const ConfigEntries& config);
// Who names a pack, and says nothing of its ops, means all of them. With --add those of the bundle are meant.
void select_all_of_named_pack(Settings& settings);

}  // namespace dsbuild
