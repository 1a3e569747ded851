#include "exec/lists.h"

#include "base/digest.h"

namespace dsbuild {

std::string Lists::put(const std::string& text) {
  if (text.empty()) return "";
  std::string name = sha256(text);
  if (!known_.emplace(name, text).second) return name;
  const Path file = folder_ / name;
  // A list that cannot be written makes its records be judged as lost, and their actions run again.
  if (files_.make_directories(folder_)) (void)files_.write_if_different(file, text);
  if (cache_) cache_->put_text(name, text);
  return name;
}

std::optional<std::string> Lists::find(const std::string& name) {
  if (name.empty()) return "";
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  auto text = files_.read_file(folder_ / name);
  if (!text || sha256(*text) != name) {
    auto cached = cache_ ? cache_->find_text(name) : std::nullopt;
    if (!cached || sha256(*cached) != name) return std::nullopt;
    text = std::move(*cached);
    if (files_.make_directories(folder_)) (void)files_.write_file(folder_ / name, *text);
  }
  return known_.emplace(name, std::move(*text)).first->second;
}

std::vector<std::string> Lists::paths(const std::string& name) {
  std::vector<std::string> paths;
  for (const std::string& line : split_lines(find(name).value_or("")))
    paths.push_back(line.substr(line.find(' ') + 1));
  return paths;
}

void Lists::remove_unused() {
  const auto names = files_.list(folder_);
  if (!names || names->size() <= k_spare + 2 * known_.size()) return;
  for (const std::string& name : *names)
    if (known_.count(name) == 0) (void)files_.remove_all(folder_ / name);
}

}  // namespace dsbuild
