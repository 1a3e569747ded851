#include "nvcc/step_results.h"

#include <algorithm>

namespace dsbuild {

namespace {

constexpr const char* k_said_of_tool = "said";  // behind the outputs of an entry: tool, lines' key, text

// Without bytes: nothing was said.
StoredFile said_by(const std::string& tool, const Record& record) {
  for (const Said& said : record.said)
    if (said.tool == tool) return {k_said_of_tool, tool + "\n" + record.said_of + "\n" + said.text};
  return {};
}

struct StoredSaid {
  Said said;
  std::string lines;
};
StoredSaid read_said(const std::string& bytes) {
  const size_t tool = bytes.find('\n'), lines = bytes.find('\n', tool + 1);
  if (lines == std::string::npos) return {};
  return {{bytes.substr(0, tool), bytes.substr(lines + 1)}, bytes.substr(tool + 1, lines - tool - 1)};
}

std::vector<Said> said_behind_preprocessor(const Record& record) {
  std::vector<Said> said = record.said;
  std::erase_if(said, [](const Said& one) { return one.tool == k_preprocessor; });
  return said;
}

}  // namespace

bool is_image(const std::string& end) {
  return end.ends_with(".cubin");
}

Result<bool> StepResults::take(const std::string& key, const std::string& lines) {
  if (keeps_nothing_) return false;
  said_.clear();
  const auto& last = action_.last();
  if (last && last->result == key && names_lines_of(*last, lines) && action_.has_outputs_of(last)) {
    said_ = said_behind_preprocessor(*last);
    made_of_ = MadeOf::same_input;
    return true;
  }
  const auto entry = find_in_store(key, lines);
  if (!entry) return false;
  made_of_ = MadeOf::cache;
  DSBUILD_CHECK(write(*entry));
  return true;
}

Result<void> StepResults::publish(const std::string& key, const StoreEntry& outputs, const Record& record) {
  DSBUILD_CHECK(write(outputs));
  store(images_key(outputs.front().bytes), outputs, image_ends_, said_by(k_assembler, record));
  store(key, outputs, other_ends_, said_by(k_compiler, record));
  return {};
}

Result<bool> StepResults::take_images(const std::string& ptx) {
  said_.clear();
  const auto& last = action_.last();
  if (!keeps_nothing_ && last && !last->given.empty() && last->given == images_key(ptx) &&
      action_.has_outputs_of(last)) {
    for (const Said& said : last->said)
      if (said.tool == k_assembler) said_.push_back(said);
    made_of_ = MadeOf::some_tools;
    return true;
  }
  const auto images = stored(images_key(ptx), image_ends_, {});
  if (!images) return false;
  made_of_ = MadeOf::some_tools;
  DSBUILD_CHECK(write(*images));
  return true;
}

std::optional<StoreEntry> StepResults::find_in_store(const std::string& key, const std::string& lines) {
  if (!store_ || key == missed_) return std::nullopt;
  auto outputs = stored(key, other_ends_, lines);
  if (outputs && !image_ends_.empty()) {
    const auto images = stored(images_key(outputs->front().bytes), image_ends_, {});
    if (images)
      outputs->insert(outputs->end(), images->begin(), images->end());
    else
      outputs.reset();
  }
  note_store_use(outputs.has_value(), files_);
  if (!outputs) missed_ = key;
  return outputs;
}

// An entry of outputs with these ends; there is none of no outputs. What was said of them goes to said_.
std::optional<StoreEntry> StepResults::stored(const std::string& key, const std::vector<std::string>& ends,
                                              const std::string& lines) {
  auto entry = store_ && !ends.empty() ? store_->find(key) : std::nullopt;
  if (!entry) return std::nullopt;
  StoredSaid kept;
  if (!entry->empty() && entry->back().name == k_said_of_tool) {
    kept = read_said(entry->back().bytes);
    entry->pop_back();
  }
  const bool is_whole =
      std::equal(entry->begin(), entry->end(), ends.begin(), ends.end(),
                 [](const StoredFile& file, const std::string& end) { return file.name == end; });
  if (!is_whole || (!kept.said.text.empty() && !lines.empty() && kept.lines != lines)) return std::nullopt;
  if (!kept.said.text.empty()) said_.push_back(std::move(kept.said));
  return entry;
}

// Those with these ends, if they are all there.
void StepResults::store(const std::string& key, const StoreEntry& outputs,
                        const std::vector<std::string>& ends, const StoredFile& said) const {
  StoreEntry entry;
  for (const std::string& end : ends)
    for (const StoredFile& output : outputs)
      if (output.name == end) entry.push_back(output);
  if (!store_ || ends.empty() || entry.size() != ends.size()) return;
  if (!said.bytes.empty()) entry.push_back(said);
  store_->put(key, entry);
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
