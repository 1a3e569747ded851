// The outputs of one part, by the key of what they were made of: those that are there, and those in the
// cache.
#pragma once

#include "cache/content_store.h"
#include "nvcc/step_unit.h"
#include "sys/memory_gate.h"

namespace dsbuild {

// An output's end: only ptxas makes images.
bool is_image(const std::string& end);

// What tools made but images, with the names that they had and with their own; PTX is the first, where there
// is any.
struct NamedTexts {
  StoreEntry made, own;
};

class StepResults {
 public:
  StepResults(const StepUnit& unit, ActionRun& action, FileSystem& files)
      : unit_(unit), action_(action), files_(files), store_(action.cache()) {
    for (const std::string& end : unit.step.outputs)
      (is_image(end) ? image_ends_ : other_ends_).push_back(end);
  }

  // Whether the outputs are those of the key now, because they were before or were taken from elsewhere.
  // `lines`: of the text that they are made of now; "": it is not known to differ. Where it does, what was
  // said of them names lines that are others by now, so they count as absent.
  Result<bool> take(const ResultKey& key, const std::string& lines = {});
  // Where the store has all of these outputs but the images.
  std::optional<StoreEntry> take_texts(const ResultKey& key, const std::string& lines);
  // `made`: as the tools wrote them. nullopt: they cannot have the names of their list.
  std::optional<NamedTexts> with_names(const ResultKey& key, StoreEntry made) const;
  // Outputs are written only where their bytes change; without images those that are there stay. The store
  // keeps images by their PTX, apart from the rest: those that stay may have been damaged since, and it has
  // them from when they were made. `images`: with their own names. `record`: what was said when all were
  // made.
  Result<void> publish(const ResultKey& key, const NamedTexts& texts, const StoreEntry& images,
                       const Record& record);
  // Whether the images are those of this PTX now, because they were before or were taken from the store: an
  // edit of host code changes the text that cicc reads, and not its PTX.
  Result<bool> take_images(const ResultKey& key, const NamedTexts& texts);
  // Of what ptxas gets, which is a device part's first output; "" where the part has no ptxas.
  std::string images_key(const std::string& ptx) const;
  // What tools said when they made what was taken; not the preprocessor, which has run or is in the record.
  const std::vector<Said>& said() const { return said_; }

  // What the outputs are made of, once they are there.
  MadeOf made_of() const { return made_of_; }

  // That the store has no record by which something could be looked for.
  void note_miss() {
    if (store_) note_store_use(false, files_);
  }

  // From now on nothing of what is there and no store: what the outputs are made of is not all in their key.
  void keep_nothing() {
    store_.reset();
    keeps_nothing_ = true;
  }

 private:
  std::optional<StoreEntry> find_in_store(const ResultKey& key, const std::string& lines);
  std::optional<StoreEntry> stored(const std::string& key, const std::vector<std::string>& ends,
                                   const std::string& lines);
  void store(const std::string& key, const StoreEntry& outputs, const std::vector<std::string>& ends,
             const StoredFile& said) const;
  Result<void> write(const StoreEntry& outputs);
  std::optional<StoreEntry> stored_images(const ResultKey& key, const NamedTexts& texts);
  void store_images(const ResultKey& key, const NamedTexts& texts, StoreEntry images,
                    const StoredFile& said) const;

  const StepUnit& unit_;
  ActionRun& action_;
  FileSystem& files_;
  std::optional<ContentStore> store_;
  bool keeps_nothing_ = false;
  MadeOf made_of_ = MadeOf::tools;
  std::vector<std::string> image_ends_, other_ends_;  // of the outputs
  std::vector<Said> said_;
  ResultKey missed_;  // a key that the store does not have
};

}  // namespace dsbuild
