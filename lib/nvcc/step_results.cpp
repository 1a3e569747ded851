#include "nvcc/step_results.h"

#include <algorithm>

namespace dsbuild {

bool is_image(const std::string& end) {
  return end.ends_with(".cubin");
}

Result<bool> StepResults::take(const std::string& key) {
  if (keeps_nothing_) return false;
  const auto& last = action_.last();
  if (last && last->result == key && action_.has_outputs_of(last)) return true;
  const auto entry = find_in_store(key);
  if (!entry) return false;
  DSBUILD_CHECK(write(*entry));
  return true;
}

Result<void> StepResults::publish(const std::string& key, const StoreEntry& outputs) {
  DSBUILD_CHECK(write(outputs));
  store(images_key(outputs.front().bytes), outputs, image_ends_);
  store(key, outputs, other_ends_);
  return {};
}

Result<bool> StepResults::take_images(const std::string& ptx) {
  const auto& last = action_.last();
  if (!keeps_nothing_ && last && !last->given.empty() && last->given == images_key(ptx) &&
      action_.has_outputs_of(last))
    return true;
  const auto images = stored(images_key(ptx), image_ends_);
  if (!images) return false;
  DSBUILD_CHECK(write(*images));
  return true;
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

Result<void> StepResults::write(const StoreEntry& outputs) {
  for (const StoredFile& file : outputs)
    DSBUILD_CHECK(files_.write_if_different(unit_.path + file.name, file.bytes));
  return {};
}

std::string StepResults::images_key(const std::string& ptx) const {
  const std::vector<Words>& commands = unit_.step.commands;
  return commands.size() < 2 ? "" : unit_.key_of(ptx, {commands.begin() + 1, commands.end()});
}

}  // namespace dsbuild
