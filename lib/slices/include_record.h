// What a preprocessor read, written down so that the same file need not be preprocessed again: what came out
// of it last time, every file that it read, and every folder in which a new file could come before one of
// them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/content_store.h"

namespace dsbuild {

// The names of the files in a depfile for Make, without its target.
std::vector<std::string> files_in_depfile(std::string_view depfile);

// Where a preprocessor looks for headers: the folders of -I, -isystem, -iquote and the like, which may stand
// in the same word or the next.
std::set<std::string> search_folders(const std::vector<std::string>& command);

struct IncludeRecord {
  std::string result;              // of the step: its key
  std::vector<std::string> files;  // that were read, the source among them
};

// Relative paths are the project's: files count by their bytes, folders by the names of all that is below
// them. Absolute ones are those of tools and packages: they count by size and time. `command` is the
// preprocessor's, for its search folders. Empty where a file changed after `begin_ns` (of the clock of file
// times), other than one that lies in the build folder itself, or a name in one of the folders, and where a
// file of the project may read others that no compiler tells of (slices/unnamed_files.h): what was read then
// is not known.
std::string render_include_record(const IncludeRecord& record, const std::vector<std::string>& command,
                                  int64_t begin_ns, const FileReader& files);

// The record, if every file and folder is as it was.
std::optional<IncludeRecord> read_include_record(std::string_view text, const FileReader& files);

// For Make: that `target` depends on the files.
std::string render_depfile(const std::string& target, const std::vector<std::string>& files);

// Records in the content store, by all that is known before the preprocessor runs. Beside the newest one a
// few older ones are kept: other states of the headers, as when branches are switched.
std::optional<IncludeRecord> find_include_record(const ContentStore& store, const std::string& key,
                                                 const FileReader& files);
void add_include_record(const ContentStore& store, const std::string& key, const std::string& text);

}  // namespace dsbuild
