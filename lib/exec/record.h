// The inputs and outputs of an action: one text next to its first output (<output>.record), and a second one,
// for other build folders, in the cache. Paths are as commands in the build folder name them: relative ones
// are the project's ("pack/…") and the build's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/key.h"

namespace dsbuild {

// A result in the cache.
struct ResultKey {
  std::string digest;     // of its key
  std::string arch_list;  // whose names these outputs have, where the cache has them with common names
                          // (nvcc/arch_tagged_symbols.h); "": they are as the cache has them
  bool empty() const { return digest.empty(); }
  bool operator==(const ResultKey&) const = default;
};

struct FileDigest {
  std::string path, digest;  // SHA-256
  bool operator==(const FileDigest&) const = default;
};

// Two files of equal bytes. With `#pragma once` they are one file to gcc where their times are equal too, to
// the second (libcpp/files.cc); then the second is in no depfile.
struct EqualFiles {
  std::string first, second;
  bool same_time = false;
  bool operator==(const EqualFiles&) const = default;
};

// The mtime of a file that may be in what was made of it (__TIMESTAMP__), in seconds.
struct FileTime {
  std::string path;
  int64_t seconds = 0;
  bool operator==(const FileTime&) const = default;
};

// What a tool said though it did not fail: warnings. Files are named as commands name them.
inline constexpr const char *k_preprocessor = "preprocessor", *k_compiler = "compiler",
                            *k_assembler = "assembler", *k_verifier = "verifier";
struct ToolOutput {
  std::string tool;  // one of these
  std::string text;  // not empty
  bool operator==(const ToolOutput&) const = default;
};

// In the cache it has outputs too: a plan foresees by them what comes after.
struct Record {
  Key key;             // of the action, before anything is read: its command, its tools
  ResultKey result;    // of what was made of all that was read; empty: it is not cached
  std::string images;  // the key of the result that has its images, where that is a result of its own
  std::string given;   // the key of what the last tool was given: of PTX, of the host's C++
  std::vector<FileDigest> inputs;  // the project's and the build's
  std::string others;   // a list: "<digest> <path>" of each file of tools and packages that was read
  std::string search;   // a list: where names were looked for, and which (inputs/include_search.h)
  std::string present;  // a list: those that were there
  std::vector<EqualFiles> equal_files;
  std::vector<FileDigest> outputs;
  std::vector<ToolOutput> said;
  // A digest of the preprocessed text with its lines, which `said` may name: keys leave out where lines
  // stand.
  std::string said_of;
  std::string unsettled;  // what changed while tools ran; "": nothing did
  // A file of the project that reads others which no compiler names (an assembler's .incbin); "": none does.
  // Such a record never holds.
  std::string incomplete;
  // A file that has the time of its compile in it (__DATE__), which nothing pins; "": none has. Nor does such
  // a record hold.
  std::string clock;
  std::vector<FileTime> file_times;
  bool operator==(const Record&) const = default;
};

// Whether there is anything that it may hold for later.
bool can_hold(const Record& record);

// Of what was said: by one tool; by all that ran after the preprocessor.
std::vector<ToolOutput> output_of_tool(const Record& record, std::string_view tool);
std::vector<ToolOutput> output_after_preprocessor(const Record& record);

// Nothing for an empty text.
void add_said(Record& record, const char* tool, std::string text);
// Whether what was said holds for a text with these lines; "" for ones that are not known to differ.
bool names_lines_of(const Record& record, const std::string& lines);

// The first line is the digest of the rest. nullopt: damaged, or of another version.
std::string render_record(const Record& record);
std::optional<Record> parse_record(std::string_view text);

// Next to an output: its record, and the last record that was found to be out of date.
std::string record_file(const std::string& output);
std::string old_record_file(const std::string& output);

}  // namespace dsbuild
