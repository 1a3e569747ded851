// The outputs of one part, by the key of what they were made of: those that are there, those of another op,
// those in the content store.
#pragma once

#include "slices/step_unit.h"
#include "store/content_store.h"

namespace dsbuild {

class StepResults {
 public:
  StepResults(const StepUnit& unit, FileSystem& files);

  // Whether the outputs are those of the key now, because they were before or were taken from elsewhere.
  Result<bool> take(const std::string& key);

  // Before tools run. What is there is nothing's until publish().
  void forget();
  // Outputs are written only where their bytes change; `outputs` may leave out those that stay as they are,
  // and then nothing goes into the store: what stays may have been damaged since.
  Result<void> publish(const std::string& key, const StoreEntry& outputs);

  // Whether the images that were there before forget() were made of this PTX: an edit of host code changes
  // the text that cicc reads, and not its PTX.
  bool has_images_of(const std::string& ptx) const;

  const std::optional<ContentStore>& store() const { return store_; }

 private:
  bool is_there(const std::string& unit, const std::string& output, const std::string& key) const;
  bool has_outputs(const std::string& unit) const;
  bool names_all_outputs(const StoreEntry& entry) const;
  std::optional<StoreEntry> outputs_of(const std::string& unit) const;
  std::optional<StoreEntry> find_in_store(const std::string& key);
  Result<void> write(const std::string& key, const StoreEntry& outputs);
  std::string images_key(const std::string& ptx) const;
  std::string key_file() const { return key_file_of(unit_.request.output); }

  const StepUnit& unit_;
  FileSystem& files_;
  std::optional<ContentStore> store_;
  std::string missed_;           // a key that the store does not have
  std::string last_images_key_;  // of what was there before forget()
};

}  // namespace dsbuild
