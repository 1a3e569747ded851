#include "option_uses.h"

#include <algorithm>

#include "argument_suggestions.h"
#include "base/text.h"
#include "command.h"

namespace dsbuild {
namespace {

bool contains(const std::vector<Topic>& topics, Topic topic) {
  return std::ranges::find(topics, topic) != topics.end();
}

bool is_chosen(const OptionUses& uses, const Chosen& chosen) {
  return !uses.when.empty() && (chosen.options.contains(uses.when) || chosen.operand == uses.when);
}

bool is_of_mode(Topic topic, const CommandRow& row, const Chosen& chosen) {
  bool is_any_chosen = false;
  for (const OptionUses& uses : row.uses) {
    if (!is_chosen(uses, chosen)) continue;
    is_any_chosen = true;
    if (contains(uses.topics, topic)) return true;
  }
  return !is_any_chosen && std::ranges::any_of(row.uses, [&](const OptionUses& uses) {
    return uses.when.empty() && contains(uses.topics, topic);
  });
}

Chosen chosen_by(const std::string& when) {
  if (when.starts_with("-")) return {{when}, ""};
  return {{}, when};
}

Args names_used(const CommandRow& row, const Chosen& chosen) {
  Args names;
  for (const Option& option : options())
    if (!option.names.empty() && is_used(option, row, chosen)) names.push_back(option.name());
  return names;
}

// "verify --against-nvcc", or "plan" where it does not matter how it is called.
void add_users(const Option& option, const CommandRow& row, Args& users) {
  if (row.hidden) return;
  if (is_used(option, row, {})) {
    users.push_back(row.name);
    return;
  }
  for (const OptionUses& uses : row.uses)
    if (is_used(option, row, chosen_by(uses.when))) users.push_back(row.name + " " + uses.when);
}

Args users_of(const Option& option) {
  Args users;
  for (const CommandRow& row : commands())
    add_users(option, row, users);
  return users;
}

bool has_name(const Option& option, const std::string& name) {
  return holds(split(option.names, ","), name);
}

// The words but for these options and their values.
Args without(const std::vector<const Option*>& unused, const Args& words) {
  Args left;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].starts_with("--") ? words[i].substr(0, equals) : words[i].substr(0, 2);
    const auto option =
        std::ranges::find_if(unused, [&](const Option* each) { return has_name(*each, name); });
    if (option == unused.end())
      left.push_back(words[i]);
    else if (!(*option)->is_flag() && words[i] == name)
      ++i;  // its value
  }
  return left;
}

// "" where it would not be understood either.
std::string line_without(const std::vector<const Option*>& unused, const CommandLine& line) {
  Args words = without(unused, line.words);
  if (!line.program.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), line.program.begin(), line.program.end());
  }
  std::vector<const char*> argv = {"dsbuild"};
  for (const std::string& word : words)
    argv.push_back(word.c_str());
  if (!parse_command_line(static_cast<int>(argv.size()), argv.data())) return "";
  return words.empty() ? "dsbuild" : "dsbuild " + shell_join(words);
}

// "'--arch' and '--ops' do nothing in `dsbuild cache stats`"
std::string what_of(const std::vector<const Option*>& unused, const CommandRow& row, const Chosen& chosen) {
  Args names;
  for (const Option* option : unused)
    names.push_back("'" + option->name() + "'");
  const std::string last = names.back();
  names.pop_back();
  std::string where = row.name;
  for (const OptionUses& uses : row.uses)
    if (is_chosen(uses, chosen)) where += " " + uses.when;
  const bool is_said_already = std::ranges::all_of(
      unused, [&](const Option* option) { return is_used(*option, row, {chosen.options, ""}); });
  return (names.empty() ? last + " does" : join(names, ", ") + " and " + last + " do") +
         " nothing in `dsbuild " + where + "`" +
         (is_said_already ? " with '" + printable(chosen.operand) + "'" : "");
}

// Options that have the same users share a line.
std::string fix_of(const std::vector<const Option*>& unused, const CommandLine& line) {
  std::vector<std::pair<std::string, std::string>> lines;  // users, options
  for (const Option* option : unused) {
    const std::string users = join(users_of(*option), ", ");
    const auto same = std::ranges::find(lines, users, &std::pair<std::string, std::string>::first);
    if (same == lines.end())
      lines.emplace_back(users, option->name());
    else
      same->second += ", " + option->name();
  }
  const std::string left = line_without(unused, line);
  std::string fix =
      left.empty() ? "" : "Leave " + std::string(unused.size() == 1 ? "it" : "them") + " out: " + left;
  for (const auto& [users, names] : lines)
    fix += (fix.empty() ? "" : "\n") + names + ": used by " + users;
  return fix;
}

}  // namespace

std::vector<Topic> topics_of_build() {
  std::set<Topic> topics;
  for (const Option& option : options())
    topics.insert(option.topic);
  topics.erase(Topic::policy);  // of a bundle that is there
  return {topics.begin(), topics.end()};
}

std::vector<Topic> topics_of_plan() {
  return {Topic::ops,        Topic::archs,   Topic::disjoint_archs,   Topic::pack,    Topic::source,
          Topic::kept_ops,   Topic::cuda,    Topic::other_toolkits,   Topic::python,  Topic::build_folder,
          Topic::compile,    Topic::offline, Topic::tool_environment, Topic::digests, Topic::cache,
          Topic::cache_size, Topic::trust};
}

std::vector<Topic> operator+(std::vector<Topic> topics, const std::vector<Topic>& more) {
  topics.insert(topics.end(), more.begin(), more.end());
  return topics;
}

std::vector<Topic> operator-(std::vector<Topic> topics, const std::vector<Topic>& fewer) {
  std::erase_if(topics, [&](Topic topic) { return contains(fewer, topic); });
  return topics;
}

bool is_used(const Option& option, const CommandRow& row, const Chosen& chosen) {
  switch (option.topic) {
    case Topic::every:
      return true;
    case Topic::config:
      return row.reads_settings;
    case Topic::project_file:
      return row.reads_settings && row.reads_project_file;
    default:
      break;
  }
  const bool is_said_by_operand =
      !chosen.operand.empty() && row.operands && holds(row.operands->stands_for, option.name());
  return !is_said_by_operand && is_of_mode(option.topic, row, chosen);
}

std::vector<UsedOptions> used_options(const CommandRow& row) {
  const Args usual = names_used(row, {});
  std::vector<UsedOptions> used = {{"", false, usual}};
  for (const OptionUses& uses : row.uses) {
    if (uses.when.empty()) continue;
    UsedOptions own{uses.when, false, names_used(row, chosen_by(uses.when))};
    own.adds = std::ranges::all_of(usual, [&](const std::string& name) { return holds(own.names, name); });
    if (own.adds) std::erase_if(own.names, [&](const std::string& name) { return holds(usual, name); });
    if (!own.names.empty()) used.push_back(std::move(own));
  }
  return used;
}

Result<void> check_uses(const CommandLine& line) {
  const auto row = std::ranges::find(commands(), line.command, &CommandRow::name);
  Chosen chosen{{}, line.operands.empty() ? "" : line.operands.front()};
  for (const auto& [name, value] : line.options)
    chosen.options.insert(name);
  for (const auto& [name, value] : line.arguments.values)
    chosen.options.insert(name);
  std::vector<const Option*> unused;
  for (const Option& option : options())
    if (!option.names.empty() && line.arguments.find(option.name()) && !is_used(option, *row, chosen))
      unused.push_back(&option);
  if (unused.empty()) return {};
  return fail(Exit::usage, "unused_option", "command line", what_of(unused, *row, chosen),
              fix_of(unused, line));
}

}  // namespace dsbuild
