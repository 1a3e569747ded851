#include "package/wheel_version.h"

#include <regex>

#include "base/text.h"
#include "base/version.h"

namespace dsbuild {
namespace {

std::string digits(const std::string& version) {
  return replace_all(parse_version(version).value_or(Version{}).short_text(), ".", "");
}

// As torch's own builds are called.
std::string accelerator_label(const std::string& cuda, const std::string& hip, const std::string& sycl) {
  if (!cuda.empty()) return "cu" + digits(cuda);
  if (!hip.empty()) return "rocm" + digits(hip);
  return sycl.empty() ? "cpu" : "sycl" + digits(sycl);
}

std::string local_version(const Manifest& manifest) {
  if (const auto& torch = manifest.torch)
    return accelerator_label(torch->cuda, torch->hip, "") + "torch" + digits(torch->version);
  return accelerator_label(manifest.toolkit.version, manifest.hip.version, manifest.sycl.version);
}

}  // namespace

std::string wheel_version_refusal(const std::string& version, WheelIndex index) {
  static const std::regex normal(
      R"(([1-9][0-9]*!)?(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*((a|b|rc)(0|[1-9][0-9]*))?(\.post(0|[1-9][0-9]*))?)"
      R"((\.dev(0|[1-9][0-9]*))?(\+[a-z0-9]+(\.[a-z0-9]+)*)?)");
  if (!std::regex_match(version, normal)) return "is not a version of PEP 440 in its normal form";
  if (index == WheelIndex::pypi && version.find('+') != std::string::npos)
    return "has a local part, which PyPI refuses";
  return "";
}

std::string default_wheel_version(const Manifest& manifest, WheelIndex index) {
  const auto source = parse_version(manifest.source_version);
  const std::string version = source ? source->text() : "0";
  return index == WheelIndex::pypi ? version : version + "+" + local_version(manifest);
}

}  // namespace dsbuild
