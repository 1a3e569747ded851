// torch's hipify, in the folder of the torch that is found; torch itself may be of any kind, and is not run.
#include "base/digest.h"
#include "requirements/probe.h"

namespace dsbuild {
namespace {

bool is_python(const std::string& name) {
  return name.ends_with(".py");
}

// "2.0.0" of `__version__ = '2.0.0'`; "" where it does not say.
std::string version_in(const std::string& text) {
  const size_t quote = text.find_first_of("'\"");
  const auto version = quote == std::string::npos ? std::nullopt : parse_version(text.substr(quote + 1));
  return version ? version->text() : "";
}

}  // namespace

Finding probe_hipify(const ProbeInput& input) {
  if (!input.torch) return unmet(input, input.torch.error().what);
  const Torch& torch = *input.torch;
  const Path package = torch.home / "utils" / "hipify";
  const FileReader& files = input.system.files;
  if (files.kind(package / "hipify_python.py") != FileKind::file)
    return unmet(
        input, "torch " + torch.version + " has no utils/hipify/hipify_python.py in " + torch.home.string());
  const std::string version = version_in(files.read_file(package / "version.py").value_or(""));
  Hipify hipify{torch.python.executable.string(), package.string(),
                "hipify " + version + " by Python " + torch.python.version + "\n"};
  for (const std::string& name : files.list(package).value_or(std::vector<std::string>{}))
    if (is_python(name))
      hipify.identity += sha256(files.read_file(package / name).value_or("")) + " " + name + "\n";
  Finding finding = met(input, "hipify " + version + " of torch " + torch.version);
  finding.usage.hipify = std::move(hipify);
  return finding;
}

}  // namespace dsbuild
