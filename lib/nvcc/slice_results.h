// Results of a slice in the cache. Texts (PTX, stubs, the host's C++) and images are results of their own: an
// edit of host code changes the text that cicc reads, and not its PTX. Both may have the names of a list of
// archs that is common to all (nvcc/arch_tagged_symbols.h).
#pragma once

#include "exec/engine.h"
#include "nvcc/step_unit.h"

namespace dsbuild {

// Whether an output with this end is an image; only ptxas makes images.
bool is_image(const std::string& end);

// The texts that tools made, unchanged (`made`) and with the names of this unit's list (`own`). PTX is the
// first, if there is any.
struct NamedTexts {
  CacheEntry made, own;
};

class SliceResults {
 public:
  SliceResults(const StepUnit& unit, Engine& engine);

  // All outputs, with the names of this unit's list.
  std::optional<ToolResult> find(const ResultKey& key, const std::string& lines) const;
  // The texts as the tool made them.
  std::optional<ToolResult> find_texts(const ResultKey& key, const std::string& lines) const;
  // The images of this PTX, with the names of this unit's list.
  std::optional<ToolResult> find_images(const ResultKey& key, const NamedTexts& texts) const;

  // `record`: has the tools' output. `images`: with the names of this unit's list.
  void put_texts(const ResultKey& key, const NamedTexts& texts, const Record& record) const;
  void put_images(const ResultKey& key, const NamedTexts& texts, const CacheEntry& images,
                  const Record& record) const;

  // nullopt: they cannot have the names of their list.
  std::optional<NamedTexts> with_names(const ResultKey& key, CacheEntry made) const;
  // The key of ptxas's input; "" if the slice runs no ptxas.
  std::string images_key(const std::string& ptx) const;

 private:
  const StepUnit& unit_;
  const Engine& engine_;
  std::vector<std::string> image_ends_, text_ends_;  // of the outputs
};

}  // namespace dsbuild
