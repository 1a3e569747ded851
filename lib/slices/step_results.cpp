#include "slices/step_results.h"

#include <algorithm>

#include "slices/kept_results.h"

namespace dsbuild {

bool is_image(const std::string& end) {
  return end.ends_with(".cubin");
}

StepResults::StepResults(const StepUnit& unit, FileSystem& files) : unit_(unit), files_(files) {
  const auto store = unit.request.uses_store ? store_of_build(files) : std::nullopt;
  if (store) store_.emplace(*store);
  for (const std::string& end : unit.step.outputs)
    (is_image(end) ? image_ends_ : other_ends_).push_back(end);
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
  store(images_key(outputs.front().bytes), outputs, image_ends_);
  store(key, outputs, other_ends_);
  return {};
}

Result<bool> StepResults::take_images(const std::string& ptx) {
  if (!last_images_key_.empty() && last_images_key_ == images_key(ptx) && has_outputs(unit_.path))
    return true;
  const auto images = stored(images_key(ptx), image_ends_);
  if (!images) return false;
  for (const StoredFile& image : *images)
    DSBUILD_CHECK(files_.write_if_different(unit_.path + image.name, image.bytes));
  return true;
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
  auto outputs = stored(key, other_ends_);
  if (outputs && !image_ends_.empty()) {
    const auto images = stored(images_key(outputs->front().bytes), image_ends_);
    if (images)
      outputs->insert(outputs->end(), images->begin(), images->end());
    else
      outputs.reset();
  }
  note_store_use(outputs.has_value(), files_);
  if (!outputs) missed_ = key;
  return outputs;
}

// An entry of outputs with these ends; there is none of no outputs.
std::optional<StoreEntry> StepResults::stored(const std::string& key,
                                              const std::vector<std::string>& ends) const {
  auto entry = store_ && !ends.empty() ? store_->find(key) : std::nullopt;
  const bool is_whole =
      entry && std::equal(entry->begin(), entry->end(), ends.begin(), ends.end(),
                          [](const StoredFile& file, const std::string& end) { return file.name == end; });
  return is_whole ? entry : std::nullopt;
}

// Those with these ends, if they are all there.
void StepResults::store(const std::string& key, const StoreEntry& outputs,
                        const std::vector<std::string>& ends) const {
  StoreEntry entry;
  for (const std::string& end : ends)
    for (const StoredFile& output : outputs)
      if (output.name == end) entry.push_back(output);
  if (store_ && !ends.empty() && entry.size() == ends.size()) store_->put(key, entry);
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
