// {header: a/b.h}: the host compiler's preprocessor finds it, with the user's CFLAGS and the op's
// include folders.
#include "requirements/compile.h"
#include "requirements/file_backed_fact.h"
#include "requirements/places.h"

namespace dsbuild {
namespace {

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
  finding.gives.include_dirs = include_places(input);
  finding.gives.roots = roots_of_places(input);
  finding.gives.cxx_flags = input.settings.cflags.value;
  return finding;
}

Finding not_found(const ProbeInput& input, const TrialResult& result) {
  const std::string line = first_error_line(result.text);
  const bool missing = line.find(subject_of(input) + ": No such file") != std::string::npos ||
                       line.find("'" + subject_of(input) + "' file not found") != std::string::npos;
  Finding finding = unmet(input, missing ? "not found: no header " + subject_of(input) : line);
  finding.detail = result.text;
  return finding;
}

}  // namespace

Finding probe_header(const ProbeInput& input) {
  if (input.cxx == nullptr) return no_compiler(input);
  if (subject_of(input).find_first_of("<>\n") != std::string::npos)
    return unmet(input, "'" + printable(subject_of(input)) + "' is no name of a header");
  const FileReader& files = input.system.files;
  const Trial trial = header_trial(input);
  const std::string key = trial_key(input, trial);
  const std::string identity = program_identity(files, input.cxx->path) + " " + input.cxx_identity;
  if (const auto known = recall(files, input.facts, key, identity)) return found_header(input, known->answer);

  const TrialResult result = run_trial(input, trial);
  if (!result.ran) return unmet(input, "the test program could not be compiled: " + result.text);
  if (!result.ok) return not_found(input, result);
  const std::string path = included_path(input, result.text);
  if (!path.empty()) remember(files, input.facts, key, identity, {path, path});
  return found_header(input, path);
}

}  // namespace dsbuild
