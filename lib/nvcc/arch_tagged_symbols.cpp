#include "nvcc/arch_tagged_symbols.h"

#include <vector>

#include "base/text.h"
#include "binary/elf_names.h"
#include "nvcc/tokens.h"

namespace dsbuild {
namespace {

struct ListName {
  size_t begin = 0;  // of the name
  size_t list = 0;   // of the list in it
  size_t end = 0;    // behind the list and its "_NS", if it has that
};

// As names have it: 800_900.
std::string joined(std::string_view list) {
  return replace_all(std::string(list), ",", "_");
}

// "THRUST_300001", "CUB_300001", "_V_300101" before `end`, where they begin.
std::optional<size_t> version_before(std::string_view text, size_t end) {
  size_t at = end;
  while (at > 0 && is_digit(text[at - 1]))
    --at;
  if (at == end) return std::nullopt;
  for (const std::string_view word : {"THRUST_", "CUB_", "_V_"})
    if (text.substr(0, at).ends_with(word)) return at - word.size();
  return std::nullopt;
}

// libcu++ of CUDA 13.5 says no version: cuda::std::_SM_800_900. CUB of 11.8 no SM: CUB_101702_800_900_NS.
std::optional<ListName> name_around(std::string_view text, size_t list, size_t size) {
  size_t before = list - 1;
  const bool has_sm = text.substr(0, before).ends_with("_SM");
  if (has_sm) before -= 3;
  const auto version = version_before(text, before);
  if (!version && !has_sm) return std::nullopt;
  const size_t begin = version.value_or(before);
  const size_t end = list + size;
  return ListName{begin, list, text.substr(end).starts_with("_NS") ? end + 3 : end};
}

std::vector<ListName> names_of(std::string_view text, const std::string& list) {
  const std::string searched = "_" + list;
  std::vector<ListName> found;
  for (size_t at = text.find(searched); at != std::string_view::npos; at = text.find(searched, at + 1))
    if (const auto name = name_around(text, at + 1, list.size())) found.push_back(*name);
  return found;
}

// A mangled name has the length of each of its parts before it: 27THRUST_300001_SM_800_900_NS.
std::string length_of(const ListName& name) {
  return std::to_string(name.end - name.begin);
}
bool is_mangled(std::string_view text, const ListName& name) {
  return text.substr(0, name.begin).ends_with(length_of(name));
}

bool is_whole(std::string_view text, const ListName& name) {
  return (name.begin == 0 || !is_of_name(text[name.begin - 1])) &&
         (name.end == text.size() || !is_of_name(text[name.end]));
}

// As far as one line of C++ tells; PTX has no strings in quotes but names of files.
bool is_in_quotes(std::string_view text, size_t searched) {
  const size_t newline = text.rfind('\n', searched);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view line = text.substr(begin, text.find('\n', searched) - begin);
  size_t at = 0;
  while (at < searched - begin) {
    if (is_digit(line[at]))
      at = end_of_number(line, at);
    else if (is_of_name(line[at]))
      at = end_of_name(line, at);
    else if (line[at] == '"' || line[at] == '\'') {
      at = end_of_string(line, at);
      if (at > searched - begin) return true;
    } else
      ++at;
  }
  return false;
}

// A string in PTX is numbers: {83, 77, 95, 48, 48}.
std::string as_numbers(std::string_view text) {
  std::string numbers;
  for (const char c : text)
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(static_cast<int>(c));
  return numbers;
}

}  // namespace

bool names_list(std::string_view text, std::string_view list) {
  return behind_list_name(text, list).has_value();
}

std::optional<size_t> behind_list_name(std::string_view text, std::string_view list) {
  const std::vector<ListName> names = names_of(text, joined(list));
  return names.empty() ? std::nullopt : std::optional(names.front().end);
}

std::optional<std::string> with_list(std::string_view text, const std::string& from, const std::string& to) {
  const std::string old_list = joined(from), new_list = joined(to);
  if (names_list(text, to) || text.find(as_numbers("_" + old_list)) != std::string_view::npos)
    return std::nullopt;
  std::string changed;
  changed.reserve(text.size() + text.size() / 64);
  size_t copied = 0;
  for (const ListName& name : names_of(text, old_list)) {
    const bool mangled = is_mangled(text, name);
    if ((!mangled && !is_whole(text, name)) || is_in_quotes(text, name.begin)) return std::nullopt;
    const size_t size = name.end - name.begin - old_list.size() + new_list.size();
    const size_t begin = mangled ? name.begin - length_of(name).size() : name.begin;
    changed += text.substr(copied, begin - copied);
    if (mangled) changed += std::to_string(size);
    changed += text.substr(name.begin, name.list - name.begin);
    changed += new_list;
    copied = name.list + old_list.size();
  }
  changed += text.substr(copied);
  return changed;
}

std::optional<std::string> image_with_list(std::string_view cubin, const std::string& from,
                                           const std::string& to) {
  if (!names_list(cubin, from)) return std::string(cubin);
  auto image = with_elf_names(cubin, [&](std::string_view name) { return with_list(name, from, to); });
  if (image && names_list(*image, from)) return std::nullopt;
  return image;
}

}  // namespace dsbuild
