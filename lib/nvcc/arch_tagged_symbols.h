// Exchanges symbols that contain the list of archs. CCCL puts its code into inline namespaces that name it
// (`thrust::THRUST_300001_SM_800_900_NS`, `cub::CUB_300001_SM_800_900`; thrust/detail/config/namespace.h and
// cub/util_namespace.cuh of CUDA 11.8 to 13.5), so that libraries for different archs do not share symbols.
// torch's headers include Thrust in every file. So one more arch changes these names in the text of each
// other arch's slice, and nothing else. dsbuild therefore compiles slices with the names of a common list,
// which no toolkit has. Then it replaces these names in the outputs by those of the actual list.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

// The common list: the value of `__CUDA_ARCH_LIST__` with which slices are compiled if only names contain it.
inline constexpr const char* k_common_list = "0000";

// Whether a text has such a name with this list ("800,900").
bool names_list(std::string_view text, std::string_view list);
// The position after the first such name.
std::optional<size_t> behind_list_name(std::string_view text, std::string_view list);

// Replaces the names of list `from` by those of `to` in C++ or PTX, and adapts the lengths in mangled names.
// nullopt if that may be wrong: a name is in quotes, in a longer name, or among the numbers of a string in
// PTX, or the text already has names of `to`.
std::optional<std::string> with_list(std::string_view text, const std::string& from, const std::string& to);

// The same for a cubin, in the names of its symbols and sections.
std::optional<std::string> image_with_list(std::string_view cubin, const std::string& from,
                                           const std::string& to);

}  // namespace dsbuild
