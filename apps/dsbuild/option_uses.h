// Which options a command uses. A topic of settings/options.h is used where the command's row names it; an
// option that was typed where it is not used is an error, for it would be passed over in silence.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/options.h"

namespace dsbuild {

struct CommandLine;
struct CommandRow;

// A command may use more, or less, by how it is called.
struct OptionUses {
  std::string when;  // an option, or the first operand: "--load", "push"; "": none of the others
  std::vector<Topic> topics;
};

// Sets for rows.
std::vector<Topic> topics_of_build();
std::vector<Topic> topics_of_plan();  // what a plan is made of
std::vector<Topic> operator+(std::vector<Topic> topics, const std::vector<Topic>& more);
std::vector<Topic> operator-(std::vector<Topic> topics, const std::vector<Topic>& fewer);

// What was typed behind a command's name.
struct Chosen {
  std::set<std::string> options;  // by name
  std::string operand;            // the first; "": none
};
bool is_used(const Option& option, const CommandRow& row, const Chosen& chosen);

struct UsedOptions {
  std::string when;                // "", "--load"
  bool adds = false;               // to those of ""; else it has its own alone
  std::vector<std::string> names;  // where it adds, those that come to them
};
std::vector<UsedOptions> used_options(const CommandRow& row);

// Error: exit 2 `unused_option`.
Result<void> check_uses(const CommandLine& line);

}  // namespace dsbuild
