#include "depfile.h"

#include <set>

namespace icpx {
namespace {

constexpr const char* k_own = "/sycl-jit-toolchain/";  // where the library's own headers seem to lie

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

std::filesystem::path in_prefix(const std::string& name, const std::filesystem::path& prefix) {
  if (name.rfind(k_own, 0) != 0) return name;
  const size_t include = name.find("/include/");
  return include == std::string::npos ? std::filesystem::path() : prefix / name.substr(include + 1);
}

}  // namespace

std::vector<std::string> files_of_depfile(const std::string& text) {
  std::vector<std::string> files;
  std::string file;
  const size_t colon = text.find(": ");
  for (size_t i = colon == std::string::npos ? text.size() : colon + 1; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    const char after = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (after == ' ' || after == '#')) {
      file += text[++i];
    } else if (c == '$' && after == '$') {
      file += text[++i];
    } else if (c == ' ' || c == '\n' || (c == '\\' && after == '\n')) {
      if (!file.empty()) files.push_back(file);
      file.clear();
    } else {
      file += c;
    }
  }
  return files;
}

std::string depfile_of(const std::string& output, const std::vector<std::string>& files,
                       const std::filesystem::path& prefix, const std::string& header) {
  std::string text = escaped(output) + ":";
  std::set<std::string> seen;
  for (const std::string& name : files) {
    const std::string file = in_prefix(name, prefix).string();
    std::error_code ignored;
    if (file == header || !std::filesystem::exists(file, ignored) || !seen.insert(file).second) continue;
    text += " \\\n  " + escaped(file);
  }
  return text + "\n";
}

}  // namespace icpx
