#include "exec/action_key.h"

#include <algorithm>

#include "base/build_layout.h"
#include "base/text.h"

namespace dsbuild {
namespace {

// action KIND TOOLS OUTPUT …
constexpr size_t k_tools_place = 1, k_output_place = 2;

bool asks_for_debug_information(const std::string& word) {
  static const std::vector<std::string> words = {
      "-g", "-G", "--debug", "--device-debug", "-lineinfo", "--generate-line-info"};
  return std::find(words.begin(), words.end(), word) != words.end() || word.starts_with("-g1") ||
         word.starts_with("-g2") || word.starts_with("-g3") || word.starts_with("-ggdb") ||
         word.starts_with("-gdwarf");
}

// Also of what nvcc hands on: -Xcompiler=-a,-b.
bool has_debug_information(const StepWords& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const std::vector<std::string> options = split(word, "=,");
    return std::any_of(options.begin(), options.end(), asks_for_debug_information);
  });
}

}  // namespace

Key action_key(const KeyInput& input, Lists& lists) {
  const StepWords& words = input.words;
  Key key;
  key.add("version", k_key_version).add(k_command_part, shell_join(words));
  const auto add_file = [&](const std::string& name, const std::string& path) {
    if (const auto text = input.read(path)) key.add(name, lists.put(*text));
  };
  if (words.size() > k_output_place) {
    if (words[k_tools_place] != k_no_tools) add_file("tools", words[k_tools_place]);
    // Ninja quotes them as for a shell.
    const auto objects =
        words.front() == "run" ? input.read(words[k_output_place] + k_objects_list_end) : std::nullopt;
    if (objects) key.add("objects", lists.put(join(shell_split(*objects), "\n")));
    if (words.front() == "run" && has_debug_information(words)) key.add("build_folder", input.build_dir);
  }
  return key;
}

std::string tools_file_of(const StepWords& words) {
  return words.size() > k_tools_place ? words[k_tools_place] : k_no_tools;
}

std::string output_of(const StepWords& words) {
  return words.size() > k_output_place ? words[k_output_place] : "";
}

}  // namespace dsbuild
