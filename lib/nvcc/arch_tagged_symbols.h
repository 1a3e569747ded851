// Names that have the list of archs in them. CCCL puts its code into inline namespaces that name it
// (`thrust::THRUST_300001_SM_800_900_NS`, `cub::CUB_300001_SM_800_900`; thrust/detail/config/namespace.h and
// cub/util_namespace.cuh of CUDA 11.8 to 13.5), so that libraries for other archs do not share symbols, and
// torch's headers bring Thrust into every file: an arch more changes the text of every other arch's slice in
// nothing but these names. Slices are therefore compiled with the names of one list that no toolkit has, and
// what comes out gets the names of the list that there is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

// `__CUDA_ARCH_LIST__` that slices are compiled as if it were, where it is only in names.
inline constexpr const char* k_common_list = "0000";

// Whether such a name of the list ("800,900") is in a text.
bool names_list(std::string_view text, std::string_view list);
// Where the first ends.
std::optional<size_t> behind_list_name(std::string_view text, std::string_view list);

// C++ or PTX with the names of `to` instead of those of `from`; mangled names have their length before them.
// nullopt where that cannot be told to be right: one stands in quotes, in a longer name, or among the numbers
// of a string in PTX; or names of `to` are there already.
std::optional<std::string> with_list(std::string_view text, const std::string& from, const std::string& to);

// The same of a cubin, in the names of its symbols and sections.
std::optional<std::string> image_with_list(std::string_view cubin, const std::string& from,
                                           const std::string& to);

}  // namespace dsbuild
