#include "provenance/licences.h"

#include "base/text.h"

namespace dsbuild {
namespace {

// Whether its parts are joined by OR, which binds less than AND.
bool is_choice(const std::string& expression) {
  int depth = 0;
  for (size_t at = 0; at < expression.size(); ++at) {
    depth += (expression[at] == '(') - (expression[at] == ')');
    if (depth == 0 && expression.compare(at, 4, " OR ") == 0) return true;
  }
  return false;
}

// As one of the parts that AND joins, if it is no choice; what has parentheses is not looked at.
bool names(const std::string& expression, const std::string& licence) {
  return expression.find('(') == std::string::npos && !is_choice(expression) &&
         (" AND " + expression + " AND ").find(" AND " + licence + " AND ") != std::string::npos;
}

}  // namespace

std::string joined_licences(std::string own, const std::vector<std::string>& others) {
  if (own.empty()) return "";
  for (const std::string& other : others)
    if (!other.empty() && !names(own, other))
      own = (is_choice(own) ? "(" + own + ")" : own) + " AND " + other;
  return own;
}

}  // namespace dsbuild
