// What line information of device code (-lineinfo) has of names that are exchanged
// (lib/nvcc/arch_tagged_symbols.h). PTX names a line and a column of the preprocessed text with its code,
// also with what is inlined (`.loc 1 5 30, function_name $L__info_string0, inlined_at 1 9 2`; .file 1
// "/usr/a.h"), and in the section .debug_str the functions. Source: cicc of CUDA 11.8 to 13.5.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace dsbuild {

// A file's last component and a line of it: "terminate.h:12".
using Lines = std::set<std::string>;

// Lines of preprocessed text with more than "{" after a name of this list: with another list the columns
// there differ.
Lines lines_with_code_behind_names(std::string_view text, std::string_view list);
bool has_code_of(std::string_view ptx, const Lines& lines);

// As with_list() of lib/nvcc/arch_tagged_symbols.h, with the strings of .debug_str.
std::optional<std::string> ptx_with_list(std::string_view ptx, const std::string& from,
                                         const std::string& to);

}  // namespace dsbuild
