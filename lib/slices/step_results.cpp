#include "slices/step_results.h"

#include <algorithm>

#include "slices/kept_results.h"

namespace dsbuild {

StepResults::StepResults(const StepUnit& unit, FileSystem& files) : unit_(unit), files_(files) {
  const auto store = unit.request.uses_store ? store_of_build(files) : std::nullopt;
  if (store) store_.emplace(*store);
}

Result<bool> StepResults::take(const std::string& key) {
  if (is_there(unit_.path, unit_.request.output, key)) return true;
  auto entry =
      is_there(unit_.twin_path, unit_.request.twin, key) ? outputs_of(unit_.twin_path) : find_in_store(key);
  if (!entry) return false;
  (void)files_.remove_all(key_file());  // what follows may be cut short
  DSBUILD_CHECK(write(key, *entry));
  return true;
}

void StepResults::forget() {
  const auto last = files_.read_file(key_file());
  const std::vector<std::string> lines = split_lines(last ? *last : "");
  last_images_key_ = lines.size() == 2 ? lines[1] : "";
  (void)files_.remove_all(key_file());
}

Result<void> StepResults::publish(const std::string& key, const StoreEntry& outputs) {
  DSBUILD_CHECK(write(key, outputs));
  if (store_ && names_all_outputs(outputs)) store_->put(key, outputs);
  return {};
}

bool StepResults::has_images_of(const std::string& ptx) const {
  return !last_images_key_.empty() && last_images_key_ == images_key(ptx) && has_outputs(unit_.path);
}

bool StepResults::is_there(const std::string& unit, const std::string& output, const std::string& key) const {
  if (unit.empty()) return false;
  const auto known = files_.read_file(key_file_of(output));
  return known && known->starts_with(key + "\n") && has_outputs(unit);
}

bool StepResults::has_outputs(const std::string& unit) const {
  return std::all_of(unit_.step.outputs.begin(), unit_.step.outputs.end(),
                     [&](const std::string& end) { return files_.kind(unit + end) == FileKind::file; });
}

bool StepResults::names_all_outputs(const StoreEntry& entry) const {
  return std::equal(entry.begin(), entry.end(), unit_.step.outputs.begin(), unit_.step.outputs.end(),
                    [](const StoredFile& file, const std::string& end) { return file.name == end; });
}

std::optional<StoreEntry> StepResults::outputs_of(const std::string& unit) const {
  StoreEntry entry;
  for (const std::string& end : unit_.step.outputs) {
    auto bytes = files_.read_file(unit + end);
    if (!bytes) return std::nullopt;
    entry.push_back({end, std::move(*bytes)});
  }
  return entry;
}

std::optional<StoreEntry> StepResults::find_in_store(const std::string& key) {
  if (!store_ || key == missed_) return std::nullopt;
  auto entry = store_->find(key);
  note_store_use(entry.has_value(), files_);
  if (entry && names_all_outputs(*entry)) return entry;
  missed_ = key;
  return std::nullopt;
}

Result<void> StepResults::write(const std::string& key, const StoreEntry& outputs) {
  for (const StoredFile& file : outputs)
    DSBUILD_CHECK(files_.write_if_different(unit_.path + file.name, file.bytes));
  return files_.write_file(key_file(), key + "\n" + images_key(outputs.front().bytes) + "\n");
}

// Of what ptxas gets, which is a device part's first output; "" where it has no part.
std::string StepResults::images_key(const std::string& ptx) const {
  const std::vector<Words>& commands = unit_.step.commands;
  return commands.size() < 2 ? "" : unit_.key_of(ptx, {commands.begin() + 1, commands.end()});
}

}  // namespace dsbuild
