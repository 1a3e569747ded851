#include "toolkit/stable_answer.h"

#include <algorithm>
#include <cctype>

#include "base/digest.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {
namespace {

bool is_hexadecimal(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

size_t count_while(const std::string& text, size_t at, size_t most, bool (*holds)(char)) {
  size_t count = 0;
  while (count < most && at + count < text.size() && holds(text[at + count]))
    ++count;
  return count;
}

// A compiler's random names: gcc's /tmp/ccAb12Cd.s, nvcc's /tmp/tmpxft_00002321_00000000-5.ii, clang's
// /tmp/null-a1b2c3.o.
std::string without_random_names(std::string text) {
  const auto is_letter_or_digit = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = text.find("/cc"); at != std::string::npos; at = text.find("/cc", at + 1))
    if (count_while(text, at + 3, 7, is_letter_or_digit) == 6) text.replace(at + 3, 6, "?");
  for (size_t at = text.find("tmpxft_"); at != std::string::npos; at = text.find("tmpxft_", at + 1))
    text.erase(at + 7, count_while(text, at + 7, 8, is_hexadecimal));
  for (size_t at = text.find("/tmp/"); at != std::string::npos; at = text.find("/tmp/", at + 1)) {
    const size_t end = std::min(text.find_first_of(" \"'\n", at), text.size()), dash = text.rfind('-', end);
    if (dash != std::string::npos && dash > at && count_while(text, dash + 1, 6, is_hexadecimal) == 6)
      text.replace(dash + 1, 6, "?");
  }
  return text;
}

// Where they are asked is no part of what they are, for that is another folder before the build folder is
// there. What lies in it is.
std::string without_folder(std::string text, const Path& folder) {
  constexpr std::string_view k_ends = " \t\n\"':";
  const std::string name = folder.string();
  if (!folder.has_relative_path()) return text;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (at + name.size() == text.size() || k_ends.find(text[at + name.size()]) != std::string_view::npos)
      text.replace(at, name.size(), ".");
  return text;
}

}  // namespace

std::string stable_answer(const std::string& said, const Path& folder) {
  return without_folder(without_random_names(said), folder);
}

std::string digest_of_answer(const ProcessResult& answer, const Path& folder, const FileReader& files) {
  const std::string said = answer.out + "\n" + answer.err;
  const Paths named = files_named_in(said, files);
  return sha256(std::to_string(answer.exit_code) + (answer.timed_out ? " timed out" : "") + "\n" +
                stable_answer(said, folder) + "\n" + join({named.begin(), named.end()}, "\n"));
}

}  // namespace dsbuild
