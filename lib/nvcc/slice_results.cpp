#include "nvcc/slice_results.h"

#include <algorithm>

#include "nvcc/arch_tagged_symbols.h"
#include "nvcc/line_information.h"

namespace dsbuild {
namespace {

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

// In the order of their ends.
CacheEntry chosen(const CacheEntry& outputs, const std::vector<std::string>& ends) {
  CacheEntry found;
  for (const std::string& end : ends)
    for (const StoredFile& output : outputs)
      if (output.name == end) found.push_back(output);
  return found;
}

}  // namespace

bool is_image(const std::string& end) {
  return end.ends_with(".cubin");
}

SliceResults::SliceResults(const StepUnit& unit, Engine& engine) : unit_(unit), engine_(engine) {
  for (const std::string& end : unit.step.outputs)
    (is_image(end) ? image_ends_ : text_ends_).push_back(end);
}

std::optional<ToolResult> SliceResults::find(const ResultKey& key, const std::string& lines) const {
  auto texts = find_texts(key, lines);
  if (!texts) return std::nullopt;
  auto named = with_names(key, std::move(texts->outputs));
  if (!named) return std::nullopt;
  if (!image_ends_.empty()) {
    const auto images = find_images(key, *named);
    if (!images) return std::nullopt;
    named->own.insert(named->own.end(), images->outputs.begin(), images->outputs.end());
    texts->tool_output.insert(texts->tool_output.end(), images->tool_output.begin(),
                              images->tool_output.end());
  }
  texts->outputs = chosen(named->own, unit_.step.outputs);
  return texts;
}

std::optional<ToolResult> SliceResults::find_texts(const ResultKey& key, const std::string& lines) const {
  return text_ends_.empty() ? std::nullopt : engine_.results().find(key.digest, text_ends_, lines);
}

// Those of the PTX as it was made, if they can be given their own names; else those of the PTX with its own.
std::optional<ToolResult> SliceResults::find_images(const ResultKey& key, const NamedTexts& texts) const {
  auto images = engine_.results().find(images_key(texts.made.front().bytes), image_ends_);
  if (!has_common_names(key)) return images;
  if (!images) return engine_.results().find(images_key(texts.own.front().bytes), image_ends_);
  for (StoredFile& image : images->outputs)
    if (!exchange(image, image_with_list, k_common_list, unit_.arch_list)) return std::nullopt;
  return images;
}

// Where ptxas only checks, there are no images that its words could be cached with.
void SliceResults::put_texts(const ResultKey& key, const NamedTexts& texts, const Record& record) const {
  const std::vector<ToolOutput> output =
      image_ends_.empty() ? output_after_preprocessor(record) : output_of_tool(record, k_compiler);
  engine_.results().put(key.digest, {chosen(texts.made, text_ends_), output, record.tool_output_source});
}

// ptxas had the PTX with its own names.
void SliceResults::put_images(const ResultKey& key, const NamedTexts& texts, const CacheEntry& images,
                              const Record& record) const {
  CacheEntry common = chosen(images, image_ends_);
  const bool is_for_all_lists = !has_common_names(key) || std::ranges::all_of(common, [&](StoredFile& image) {
    return exchange(image, image_with_list, unit_.arch_list, k_common_list);
  });
  const CacheEntry& ptx = is_for_all_lists ? texts.made : texts.own;
  if (!ptx.empty())
    engine_.results().put(images_key(ptx.front().bytes),
                          {is_for_all_lists ? common : chosen(images, image_ends_),
                           output_of_tool(record, k_assembler), record.tool_output_source});
}

std::optional<NamedTexts> SliceResults::with_names(const ResultKey& key, CacheEntry made) const {
  NamedTexts texts{std::move(made), {}};
  texts.own = texts.made;
  if (!has_common_names(key)) return texts;
  for (StoredFile& text : texts.own)
    if (!exchange(text, text.name.ends_with(".ptx") ? ptx_with_list : with_list, k_common_list,
                  unit_.arch_list))
      return std::nullopt;
  return texts;
}

std::string SliceResults::images_key(const std::string& ptx) const {
  const std::vector<Args>& commands = unit_.step.commands;
  return commands.size() < 2 ? "" : unit_.key_of(ptx, {commands.begin() + 1, commands.end()}).digest();
}

}  // namespace dsbuild
