#include "completion.h"

#include <algorithm>
#include <map>
#include <set>

#include "arch/vendor.h"
#include "base/message_code.h"
#include "interface.h"
#include "registry/registry.h"

namespace dsbuild {
namespace {

// The line, read up to the word at the cursor.
struct Typed {
  const CommandInfo* command = nullptr;
  size_t operands = 0;
  Chosen chosen;
  std::map<std::string, std::string> values;  // of the options, by their first name
  const OptionInfo* waiting = nullptr;        // the option whose value is at the cursor
  std::string word;                           // what is there of the word at the cursor
  bool is_behind_marker = false;              // `--`: what follows is another command's
};

const OptionInfo* find_option(const Interface& interface, const CommandInfo* command,
                              const std::string& name) {
  for (const auto* options : {command ? &command->options : nullptr, &interface.options}) {
    if (!options) continue;
    for (const OptionInfo& option : *options)
      if (option.has_name(name)) return &option;
  }
  return nullptr;
}

const CommandInfo* find_command(const Interface& interface, const std::string& name) {
  for (const CommandInfo& command : interface.commands)
    if (command.name == name) return &command;
  return nullptr;
}

void read_option(Typed& typed, const Interface& interface, const std::string& word) {
  const size_t equals = word.find('=');
  const OptionInfo* option = find_option(interface, typed.command, word.substr(0, equals));
  if (!option) return;
  typed.chosen.options.insert(option->names.front());
  if (option->value.empty()) return;
  if (equals == std::string::npos)
    typed.waiting = option;
  else
    typed.values[option->names.front()] = word.substr(equals + 1);
}

void read_word(Typed& typed, const Interface& interface, const std::string& word) {
  if (word == "--") {
    typed.is_behind_marker = true;
  } else if (typed.waiting) {
    typed.values[typed.waiting->names.front()] = word;
    typed.waiting = nullptr;
  } else if (word.size() > 1 && word[0] == '-') {
    read_option(typed, interface, word);
  } else if (const CommandInfo* command = typed.command ? nullptr : find_command(interface, word)) {
    typed.command = command;
  } else {
    if (typed.operands == 0) typed.chosen.operand = word;
    ++typed.operands;
  }
}

// A mark at the cursor tells a begun word from a blank behind a finished one, also within quotes.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words = shell_split(line + '\1');
  words.back().pop_back();
  return words;
}

Typed read_line(const std::string& line, const Interface& interface) {
  const std::vector<std::string> words = words_of(line);
  Typed typed;
  for (size_t i = 1; i + 1 < words.size(); ++i)
    read_word(typed, interface, words[i]);
  typed.word = words.back();
  const size_t equals = typed.word.find('=');
  if (!typed.waiting && typed.word.rfind("--", 0) == 0 && equals != std::string::npos) {
    typed.waiting = find_option(interface, typed.command, typed.word.substr(0, equals));
    typed.word.erase(0, equals + 1);
  }
  return typed;
}

std::optional<std::string> value_of(const Typed& typed, const std::string& option) {
  const auto found = typed.values.find(option);
  if (found == typed.values.end()) return std::nullopt;
  return found->second;
}

using Candidates = std::vector<Candidate>;

struct Asked {
  const Typed& typed;
  const CommandContext& context;
};

// The ops of the pack that the line names.
Candidates op_names(const Asked& asked) {
  Arguments arguments;
  for (const char* name : {"--pack", "--source", "--config", "--no-config"})
    if (const auto value = value_of(asked.typed, name)) arguments[name] = *value;
  const System& system = asked.context.system;
  const auto settings = load_settings(arguments, system.environment, system.files, asked.context.data_dir);
  if (!settings) return {};
  const auto registry = load_registry(*settings, system);
  Candidates names;
  if (!registry) return names;
  for (const OpBuilder& op : registry->ops)  // one for each accelerator may have the name
    if (names.empty() || names.back().word != op.name()) names.push_back({op.name(), op.spec().description});
  return names;
}

Candidates op_list_words(const Asked& asked) {
  Candidates words = {{"all", "every op of the pack"}};
  for (const Candidate& op : op_names(asked)) {
    words.push_back(op);
    words.push_back({"-" + op.word, "leave it out"});
  }
  return words;
}

Candidates arch_words(const Asked&) {
  Candidates words = {{"native", "the GPUs of this machine"},
                      {"all", "every arch of the toolkit"},
                      {"all-major", "the X.0 of each"}};
  for (const Vendor* vendor : vendors())
    for (const ArchWord& known : vendor->words())
      words.push_back({known.word, known.meaning});
  return words;
}

Candidates gpu_words(const Asked&) {
  Candidates words = {{"native", "the GPUs of this machine"}, {"all", "every GPU that dsbuild knows"}};
  for (const Vendor* vendor : vendors()) {
    for (const Target& gpu : vendor->known_gpus())
      words.push_back({gpu.text(), ""});
    for (const ArchWord& known : vendor->gpu_names())
      words.push_back({known.word, known.meaning});
  }
  return words;
}

Candidates presets(const Asked& asked) {
  Candidates names;
  for (const std::string& name : preset_names(asked.context.system.files, asked.context.data_dir))
    names.push_back({name, "preset"});
  return names;
}

Candidates pack_names(const Asked& asked) {
  Candidates names;
  for (const std::string& name :
       asked.context.system.files.list(asked.context.data_dir / "ops").value_or(std::vector<std::string>{}))
    names.push_back({name, "pack"});
  return names;
}

Candidates command_words(const Asked&) {
  Candidates words;
  for (const CommandInfo& command : command_line_interface().commands)
    words.push_back({command.name, command.help});
  return words;
}

Candidates code_words(const Asked&) {
  Candidates words;
  for (const MessageMeaning& message : k_messages)
    words.push_back({std::string(message.code), std::string(message.meaning)});
  return words;
}

Candidates schema_words(const Asked& asked) {
  Candidates words;
  for (const std::string& name : schema_names(asked.context))
    words.push_back({name, ""});
  return words;
}

// Where the words come from that stand for a part of a value's type: "PACK|DIR".
struct Source {
  Candidates (*words)(const Asked&);
  bool is_list;  // several, separated by one of ",;" and blanks
};
const std::map<std::string, Source> k_sources = {
    {"OPS", {op_list_words, true}},    {"OP", {op_names, false}},           {"[PACK/]OP", {op_names, false}},
    {"ARCHS", {arch_words, true}},     {"ARCH", {arch_words, false}},       {"PRESET", {presets, false}},
    {"PACK", {pack_names, false}},     {"COMMAND", {command_words, false}}, {"CODE", {code_words, false}},
    {"SCHEMA", {schema_words, false}}, {"GPUS", {gpu_words, true}},
};

// Help shows 8.0 first; sm_80 and compute_80 come when they are begun, and so does -NAME.
bool fits(const Candidate& candidate, const std::string& begun) {
  if (!candidate.word.starts_with(begun)) return false;
  return !begun.empty() || !(candidate.word.starts_with("sm_") || candidate.word.starts_with("compute_") ||
                             candidate.word.starts_with("-"));
}

void add_words(Completion& completion, const Source& source, const Asked& asked) {
  const std::string& word = asked.typed.word;
  const size_t separator = source.is_list ? word.find_last_of(",; ") : std::string::npos;
  const std::string before = separator == std::string::npos ? "" : word.substr(0, separator + 1);
  const std::vector<std::string> given = split(before, ",; ");
  for (const Candidate& candidate : source.words(asked))
    if (fits(candidate, word.substr(before.size())) &&
        std::find(given.begin(), given.end(), candidate.word) == given.end())
      completion.words.push_back({before + candidate.word, candidate.help});
}

// `type`: alternatives with '|' between; a word in lower case stands for itself.
Completion complete_value(const std::string& type, const Asked& asked) {
  Completion completion;
  for (const std::string& part : split(type, "|")) {
    const auto source = k_sources.find(part);
    if (source != k_sources.end()) add_words(completion, source->second, asked);
    completion.folders |= part == "DIR";
    completion.files |= part == "FILE";
    if (part == to_lower(part) && part.starts_with(asked.typed.word)) completion.words.push_back({part, ""});
  }
  return completion;
}

void add_options(Completion& completion, const std::vector<OptionInfo>& options, const std::string& begun) {
  const auto is_new = [&](const std::string& name) {
    return std::none_of(completion.words.begin(), completion.words.end(),
                        [&](const Candidate& candidate) { return candidate.word == name; });
  };
  for (const OptionInfo& option : options)
    for (const std::string& name : option.names)
      if (name.starts_with(begun) && is_new(name)) completion.words.push_back({name, option.help});
}

// Of those that stand in no command's row; --help and the like are in no table.
std::vector<OptionInfo> used_options(const Interface& interface, const Typed& typed) {
  const std::string command = typed.command ? typed.command->name : "build";
  const auto row = std::ranges::find(commands(), command, &CommandRow::name);
  std::vector<OptionInfo> used = interface.options;
  std::erase_if(used, [&](const OptionInfo& info) {
    const Option* option = dsbuild::find_option(info.names.front());
    return option && !is_used(*option, *row, typed.chosen);
  });
  return used;
}

Completion complete_option(const Interface& interface, const Typed& typed) {
  Completion completion;
  if (typed.command) add_options(completion, typed.command->options, typed.word);
  add_options(completion, used_options(interface, typed), typed.word);
  return completion;
}

Completion complete_operand(const Interface& interface, const Asked& asked) {
  const Typed& typed = asked.typed;
  if (typed.command) {
    const std::vector<OptionInfo>& operands = typed.command->operands;
    if (operands.empty()) return {};
    return complete_value(operands[std::min(typed.operands, operands.size() - 1)].value, asked);
  }
  Completion completion;
  for (const CommandInfo& command : interface.commands)
    if (command.name.starts_with(typed.word)) completion.words.push_back({command.name, command.help});
  return completion;
}

}  // namespace

Completion complete(const std::string& line, const CommandContext& context) {
  const Interface interface = command_line_interface();
  const Typed typed = read_line(line, interface);
  const Asked asked{typed, context};
  if (typed.is_behind_marker) return complete_value("FILE", asked);
  if (typed.waiting) return complete_value(typed.waiting->value, asked);
  if (typed.word.starts_with("-")) return complete_option(interface, typed);
  return complete_operand(interface, asked);
}

std::string render_completion(const Completion& completion) {
  std::string text;
  for (const Candidate& candidate : completion.words)
    text += candidate.word + (candidate.help.empty() ? "" : "\t" + candidate.help) + "\n";
  if (completion.files) return text + ":files\n";  // which names folders too
  return completion.folders ? text + ":folders\n" : text;
}

}  // namespace dsbuild
