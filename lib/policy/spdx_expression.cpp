#include "policy/spdx_expression.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

std::vector<std::string> words_of(std::string_view expression) {
  std::string spaced;
  for (const char c : expression)
    spaced += c == '(' || c == ')' ? std::string{' ', c, ' '} : std::string(1, c);
  return split(spaced, " ");
}

class Reader {
 public:
  Reader(std::vector<std::string> words, const std::vector<std::string>& allowed)
      : words_(std::move(words)), allowed_(allowed) {}

  std::optional<bool> read() {
    const auto value = read_or();
    return at_ == words_.size() ? value : std::nullopt;
  }

 private:
  using Value = std::optional<bool>;

  bool take(const std::string& word) {
    const bool is_next = at_ < words_.size() && to_upper(words_[at_]) == word;
    if (is_next) ++at_;
    return is_next;
  }

  Value read_or() {
    Value value = read_and();
    while (value && take("OR")) {
      const Value other = read_and();
      value = other ? Value(*value || *other) : std::nullopt;
    }
    return value;
  }

  Value read_and() {
    Value value = read_license();
    while (value && take("AND")) {
      const Value other = read_license();
      value = other ? Value(*value && *other) : std::nullopt;
    }
    return value;
  }

  Value read_license() {
    if (take("(")) {
      const Value value = read_or();
      return take(")") ? value : std::nullopt;
    }
    std::string name;
    if (!take_name(name)) return std::nullopt;
    if (take("WITH")) {
      name += " WITH ";
      if (!take_name(name)) return std::nullopt;
    }
    return std::ranges::any_of(allowed_,
                               [&](const std::string& each) { return to_lower(each) == to_lower(name); });
  }

  bool take_name(std::string& name) {
    static const std::vector<std::string> k_operators = {"AND", "OR", "WITH", "(", ")"};
    if (at_ == words_.size() || std::ranges::find(k_operators, to_upper(words_[at_])) != k_operators.end())
      return false;
    name += words_[at_++];
    return true;
  }

  std::vector<std::string> words_;
  const std::vector<std::string>& allowed_;
  size_t at_ = 0;
};

}  // namespace

std::optional<bool> is_license_allowed(std::string_view expression, const std::vector<std::string>& allowed) {
  return Reader(words_of(expression), allowed).read();
}

}  // namespace dsbuild
