// {source: a.cu, lacks: TEXT, because: WHY}: a file of the sources does not hold the text of a known fault.
#include <algorithm>

#include "requirements/probe.h"

namespace dsbuild {

Finding probe_source(const ProbeInput& input) {
  const std::string& file = subject_of(input);
  const Result<std::string> text = input.system.files.read_file(input.source_root / file);
  if (!text) return unmet(input, text.error().where + ": " + text.error().what);
  const size_t at = text->find(input.requirement.lacks);
  if (at == std::string::npos) return met(input, file + " is without the known fault");
  const auto line = 1 + std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return unmet(input, file + ":" + std::to_string(line) + ": " + input.requirement.because);
}

}  // namespace dsbuild
