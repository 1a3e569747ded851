// Needs that a small program shows, which the host compiler compiles with the user's CFLAGS and LDFLAGS:
// {header: a/b.h}: its preprocessor finds the header, in the op's include folders too;
// {library: aio, function: io_submit}: a program that calls the function compiles and links.
#include "requirements/compile.h"
#include "requirements/file_backed_fact.h"
#include "requirements/places.h"

namespace dsbuild {
namespace {

// What is asked of the compiler: the trial, and what its answers mean.
struct Question {
  Trial trial;
  std::string (*path_in)(const ProbeInput&, const std::string&);  // of what the compiler said; "": nowhere
  Finding (*found)(const ProbeInput&, const std::string& path);
  std::string (*reason)(const ProbeInput&, const std::string& error_line);  // where it was refused
};

// The answer is remembered for as long as the compiler and the file that it found stay as they are.
Finding ask_compiler(const ProbeInput& input, const Question& question) {
  const FileReader& files = input.system.files;
  const std::string key = trial_key(input, question.trial);
  const std::string identity = program_identity(files, input.cxx->path) + " " + input.cxx_identity;
  if (const auto known = recall(files, input.facts, key, identity))
    return question.found(input, known->answer);

  const TrialResult result = run_trial(input, question.trial);
  if (!result.ran) return unmet(input, "the test program could not be compiled: " + result.text);
  if (!result.ok) {
    Finding finding = unmet(input, question.reason(input, first_error_line(result.text)));
    finding.detail = result.text;
    return finding;
  }
  const std::string path = question.path_in(input, result.text);
  if (!path.empty()) remember(files, input.facts, key, identity, {path, path});
  return question.found(input, path);
}

Trial header_trial(const ProbeInput& input) {
  Trial trial;
  trial.file = "header.cpp";
  trial.program = "#include <" + subject_of(input) + ">\n";
  trial.before = {"-E", "-H", "-x", "c++"};
  const std::vector<std::string>& cflags = input.settings.cflags.value;
  trial.before.insert(trial.before.end(), cflags.begin(), cflags.end());
  for (const auto& dirs : {input.include_dirs, include_places(input)}) {
    for (const std::string& dir : dirs)
      trial.before.push_back("-I" + dir);
  }
  return trial;
}

// -H prints ". path" for each header that the source itself includes.
std::string included_path(const ProbeInput& input, const std::string& text) {
  const std::string ending = "/" + subject_of(input);
  for (const std::string& line : split_lines(text)) {
    if (line.rfind(". ", 0) == 0 && line.size() > ending.size() &&
        line.compare(line.size() - ending.size(), ending.size(), ending) == 0)
      return line.substr(2);
  }
  return {};
}

Finding found_header(const ProbeInput& input, const std::string& path) {
  Finding finding = met(input, path.empty() ? subject_of(input) + " is found" : path);
  finding.usage.include_dirs = include_places(input);
  finding.usage.roots = roots_of_places(input);
  finding.usage.cxx_flags = input.settings.cflags.value;
  return finding;
}

std::string reason_without_header(const ProbeInput& input, const std::string& error_line) {
  const bool missing = error_line.find(subject_of(input) + ": No such file") != std::string::npos ||
                       error_line.find("'" + subject_of(input) + "' file not found") != std::string::npos;
  return missing ? "not found: no header " + subject_of(input) : error_line;
}

std::vector<std::string> search_flags(const std::vector<std::string>& dirs) {
  std::vector<std::string> flags;
  for (const std::string& dir : dirs)
    flags.push_back("-L" + dir);
  return flags;
}

// Without a function the program only links against the library. -w and -fno-builtin: `char cos();`
// is no fault here, whatever the user's flags say of warnings. -Wl,-t lists the files linked.
Trial library_trial(const ProbeInput& input) {
  const std::string& function = input.requirement.function;
  Trial trial;
  trial.file = "library.c";
  trial.program = function.empty()
                      ? "int main(void) { return 0; }\n"
                      : "char " + function + "();\nint main(void) { return " + function + "(); }\n";
  trial.before = {"-x", "c", "-w", "-fno-builtin"};
  const std::vector<std::string>& cflags = input.settings.cflags.value;
  trial.before.insert(trial.before.end(), cflags.begin(), cflags.end());
  trial.after = {"-x", "none"};
  for (const auto& flags :
       {input.settings.ldflags.value, search_flags(library_places(input)), search_flags(input.library_dirs)})
    trial.after.insert(trial.after.end(), flags.begin(), flags.end());
  trial.after.insert(trial.after.end(), {"-l" + subject_of(input), "-Wl,-t"});
  return trial;
}

// The file that -l stood for, among those that the linker lists: "/lib/libz.so", "(/lib/libz.a)a.o".
std::string linked_path(const ProbeInput& input, const std::string& text) {
  const std::string name = "/lib" + subject_of(input) + ".";
  for (const std::string& line : split_lines(text)) {
    const size_t at = line.find(name);
    if (at == std::string::npos || line.find(": ") != std::string::npos) continue;
    const size_t bracket = line.rfind('(', at);
    const size_t begin = bracket == std::string::npos ? 0 : bracket + 1;
    return line.substr(begin, line.find_first_of(") ", at) - begin);
  }
  return {};
}

Finding found_library(const ProbeInput& input, const std::string& path) {
  const std::string& function = input.requirement.function;
  const std::string name = path.empty() ? "lib" + subject_of(input) : path;
  Finding finding = met(input, name + (function.empty() ? " links" : ": " + function + " links"));
  finding.usage.cxx_flags = input.settings.cflags.value;
  finding.usage.link_flags = input.settings.ldflags.value;
  for (const auto& dirs : {library_places(input), input.library_dirs})
    for (std::string& flag : search_flags(dirs))
      finding.usage.link_flags.push_back(std::move(flag));
  finding.usage.link_flags.push_back("-l" + subject_of(input));
  finding.usage.roots = roots_of_places(input);
  return finding;
}

bool is_identifier(const std::string& text) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return text.find_first_not_of(allowed) == std::string::npos;
}

std::string reason_without_library(const ProbeInput&, const std::string& error_line) {
  return error_line;
}

}  // namespace

Finding probe_header(const ProbeInput& input) {
  if (input.cxx == nullptr) return no_compiler(input);
  if (subject_of(input).find_first_of("<>\n") != std::string::npos)
    return unmet(input, "'" + printable(subject_of(input)) + "' is not a name of a header");
  return ask_compiler(input, {header_trial(input), included_path, found_header, reason_without_header});
}

Finding probe_library(const ProbeInput& input) {
  if (input.cxx == nullptr) return no_compiler(input);
  if (!is_identifier(input.requirement.function))
    return unmet(input, "'" + printable(input.requirement.function) + "' is not a name of a C function");
  return ask_compiler(input, {library_trial(input), linked_path, found_library, reason_without_library});
}

}  // namespace dsbuild
