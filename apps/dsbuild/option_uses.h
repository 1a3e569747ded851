// Finds out which options a command uses. A command uses the topics of settings/options.h that its row names.
// An option outside these topics is an error, because it must not be ignored silently.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/options.h"

namespace dsbuild {

struct CommandLine;
struct CommandRow;

// Topics that a command uses if it is called in a certain way.
struct OptionUses {
  std::string when;  // an option or the first operand: "--load", "push"; "": no other row matches
  std::vector<Topic> topics;
};

// Sets of topics for rows.
std::vector<Topic> topics_of_build();
std::vector<Topic> topics_of_plan();  // options that a plan depends on
std::vector<Topic> operator+(std::vector<Topic> topics, const std::vector<Topic>& more);
std::vector<Topic> operator-(std::vector<Topic> topics, const std::vector<Topic>& fewer);

// The words that the user typed after a command's name.
struct Chosen {
  std::set<std::string> options;  // by name
  std::string operand;            // the first; "": none
};
bool is_used(const Option& option, const CommandRow& row, const Chosen& chosen);

struct UsedOptions {
  std::string when;                // "", "--load"
  bool adds = false;               // in addition to those of ""; false: in place of them
  std::vector<std::string> names;  // if it adds, only the additional ones
};
std::vector<UsedOptions> used_options(const CommandRow& row);

// Error: exit 2 `unused_option`.
Result<void> check_uses(const CommandLine& line);

}  // namespace dsbuild
