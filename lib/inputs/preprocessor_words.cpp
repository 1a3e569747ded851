#include "inputs/preprocessor_words.h"

namespace dsbuild {
namespace {

bool takes_a_word_more(const std::string& word) {
  return word == "-isystem" || word == "-include" || word == "-I" || word == "-D" || word == "-U";
}

bool is_for_preprocessor(const std::string& word) {
  return takes_a_word_more(word) || word.starts_with("-D") || word.starts_with("-U") ||
         word.starts_with("-I");
}

}  // namespace

std::vector<std::string> words_behind_preprocessor(const std::vector<std::string>& command) {
  std::vector<std::string> left;
  for (size_t i = 0; i < command.size(); ++i) {
    if (!is_for_preprocessor(command[i])) left.push_back(command[i]);
    if (takes_a_word_more(command[i])) ++i;
  }
  return left;
}

}  // namespace dsbuild
