#include "nvcc/step_results.h"

#include <algorithm>

#include "nvcc/line_information.h"
#include "nvcc/list_names.h"

namespace dsbuild {

namespace {

constexpr const char* k_said_of_tool = "said";  // behind the outputs of an entry: tool, lines' key, text

// Without bytes: nothing was said.
StoredFile said_by(const std::string& tool, const Record& record) {
  for (const Said& said : record.said)
    if (said.tool == tool) return {k_said_of_tool, tool + "\n" + record.said_of + "\n" + said.text};
  return {};
}

// Of all that ran behind the preprocessor: where ptxas only checks, there are no images that its words could
// be kept with.
StoredFile said_by_all(const Record& record) {
  Record joined = record;
  joined.said.clear();
  std::string text;
  for (const Said& said : record.said)
    if (said.tool != k_preprocessor) text += said.text;
  add_said(joined, k_compiler, std::move(text));
  return said_by(k_compiler, joined);
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

// In the cache: for all lists of archs.
bool has_common_names(const ResultKey& key) {
  return !key.arch_list.empty();
}

// The names of one list for those of another; false where that cannot be.
template <class Exchange>
bool exchange(StoredFile& file, Exchange with, const std::string& from, const std::string& to) {
  auto changed = with(file.bytes, from, to);
  if (changed) file.bytes = std::move(*changed);
  return changed.has_value();
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

Result<bool> StepResults::take(const ResultKey& key, const std::string& lines) {
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

std::optional<StoreEntry> StepResults::take_texts(const ResultKey& key, const std::string& lines) {
  said_.clear();
  auto texts = stored(key.digest, other_ends_, lines);
  if (texts) made_of_ = MadeOf::some_tools;
  return texts;
}

std::optional<NamedTexts> StepResults::with_names(const ResultKey& key, StoreEntry made) const {
  NamedTexts texts{std::move(made), {}};
  texts.own = texts.made;
  if (!has_common_names(key)) return texts;
  for (StoredFile& text : texts.own)
    if (!exchange(text, text.name.ends_with(".ptx") ? ptx_with_list : with_list, k_common_list,
                  unit_.arch_list))
      return std::nullopt;
  return texts;
}

Result<void> StepResults::publish(const ResultKey& key, const NamedTexts& texts, const StoreEntry& images,
                                  const Record& record) {
  DSBUILD_CHECK(write(texts.own));
  DSBUILD_CHECK(write(images));
  store_images(key, texts, images, said_by(k_assembler, record));
  store(key.digest, texts.made, other_ends_,
        image_ends_.empty() ? said_by_all(record) : said_by(k_compiler, record));
  return {};
}

Result<bool> StepResults::take_images(const ResultKey& key, const NamedTexts& texts) {
  said_.clear();
  const auto& last = action_.last();
  if (!keeps_nothing_ && last && !last->given.empty() && last->given == images_key(texts.own.front().bytes) &&
      action_.has_outputs_of(last)) {
    for (const Said& said : last->said)
      if (said.tool == k_assembler) said_.push_back(said);
    made_of_ = MadeOf::some_tools;
    return true;
  }
  const auto images = stored_images(key, texts);
  if (!images) return false;
  made_of_ = MadeOf::some_tools;
  DSBUILD_CHECK(write(*images));
  return true;
}

std::optional<StoreEntry> StepResults::find_in_store(const ResultKey& key, const std::string& lines) {
  if (!store_ || key == missed_) return std::nullopt;
  auto made = stored(key.digest, other_ends_, lines);
  const auto texts = made ? with_names(key, std::move(*made)) : std::nullopt;
  std::optional<StoreEntry> outputs;
  if (texts && image_ends_.empty()) outputs = texts->own;
  if (texts && !image_ends_.empty())
    if (const auto images = stored_images(key, *texts)) {
      outputs = texts->own;
      outputs->insert(outputs->end(), images->begin(), images->end());
    }
  note_store_use(outputs.has_value(), files_);
  if (!outputs) missed_ = key;
  return outputs;
}

// Those of the PTX as it was made, if they can be given their own names; else those of the PTX with its own.
std::optional<StoreEntry> StepResults::stored_images(const ResultKey& key, const NamedTexts& texts) {
  auto images = stored(images_key(texts.made.front().bytes), image_ends_, {});
  if (!has_common_names(key)) return images;
  if (!images) return stored(images_key(texts.own.front().bytes), image_ends_, {});
  for (StoredFile& image : *images)
    if (!exchange(image, image_with_list, k_common_list, unit_.arch_list)) return std::nullopt;
  return images;
}

// ptxas had the PTX with its own names.
void StepResults::store_images(const ResultKey& key, const NamedTexts& texts, StoreEntry images,
                               const StoredFile& said) const {
  StoreEntry common = images;
  const bool is_for_all_lists = !has_common_names(key) || std::ranges::all_of(common, [&](StoredFile& image) {
    return exchange(image, image_with_list, unit_.arch_list, k_common_list);
  });
  if (is_for_all_lists)
    store(images_key(texts.made.front().bytes), common, image_ends_, said);
  else
    store(images_key(texts.own.front().bytes), images, image_ends_, said);
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
  return commands.size() < 2 ? "" : unit_.key_of(ptx, {commands.begin() + 1, commands.end()}).digest();
}

}  // namespace dsbuild
