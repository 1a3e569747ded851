#include "requirements/torch.h"

namespace dsbuild {
namespace {

// "'12.8'" -> "12.8"; "None" -> "".
std::string text_of(const std::string& literal) {
  const bool quoted = literal.size() >= 2 && (literal.front() == '\'' || literal.front() == '"') &&
                      literal.back() == literal.front();
  return quoted ? literal.substr(1, literal.size() - 2) : "";
}

}  // namespace

Torch parse_torch_version_file(std::string_view text) {
  Torch torch;
  for (const std::string& line : split_lines(text)) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name =
        trim(line.substr(0, line.find_first_of(":=")));  // "cuda: Optional[str] = '12.8'"
    const std::string value = text_of(trim(line.substr(equals + 1)));
    if (name == "__version__") torch.version = value;
    if (name == "cuda") torch.cuda = value;
    if (name == "hip") torch.hip = value;
  }
  return torch;
}

std::optional<Torch> read_torch(System& system, FactStore& facts) {
  const Result<Witnessed> found = find_torch(system, facts);
  if (!found) return std::nullopt;
  const Result<std::string> text = system.files.read_file(found->file);
  Torch torch = text ? parse_torch_version_file(printable(*text)) : Torch{};
  torch.home = found->file.parent_path();
  if (torch.version.empty()) torch.version = found->answer;
  return torch;
}

}  // namespace dsbuild
