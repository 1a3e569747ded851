// The inputs and outputs of an action. One text lies next to its first output (<output>.record), and a second
// one in the cache, for other build folders. Paths are those that commands in the build folder use. Relative
// paths belong to the project ("pack/…") and to the build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/key.h"

namespace dsbuild {

// Names a result in the cache.
struct ResultKey {
  std::string digest;  // of the result's key
  // The list of archs in this action's symbols, if the cache has the outputs with common symbols instead
  // (nvcc/arch_tagged_symbols.h). "": the outputs are those in the cache.
  std::string arch_list;
  bool empty() const { return digest.empty(); }
  bool operator==(const ResultKey&) const = default;
};

struct FileDigest {
  std::string path, digest;  // SHA-256
  bool operator==(const FileDigest&) const = default;
};

// Two files with equal bytes. With `#pragma once`, gcc takes them for one file if their times are equal to
// the second, too (libcpp/files.cc). Then no depfile names the second.
struct EqualFiles {
  std::string first, second;
  bool same_time = false;
  bool operator==(const EqualFiles&) const = default;
};

// The mtime in seconds of a file, whose outputs may contain it (__TIMESTAMP__).
struct FileTime {
  std::string path;
  int64_t seconds = 0;
  bool operator==(const FileTime&) const = default;
};

// The output of a tool that did not fail: warnings. Files in it have the names that commands use.
inline constexpr const char *k_preprocessor = "preprocessor", *k_compiler = "compiler",
                            *k_assembler = "assembler", *k_verifier = "verifier";
struct ToolOutput {
  std::string tool;  // one of the names above
  std::string text;  // not empty
  bool operator==(const ToolOutput&) const = default;
};

// The record of an action. A record in the cache has outputs, too: with their digests, dsbuild knows the
// inputs of later actions before they run.
struct Record {
  Key key;             // of the action: its command and tools
  ResultKey result;    // the result; empty: it is not cached
  std::string images;  // the key of a second result, which has the images, if they are stored separately
  std::string given;   // the key of the last tool's input: of PTX, of the host's C++
  std::vector<FileDigest> inputs;  // files of the project and the build
  std::string others;   // a list: "<digest> <path>" for each file of tools and packages that was read
  std::string search;   // a list: names that tools searched for, and the folders (inputs/include_search.h)
  std::string present;  // a list: names that existed
  std::vector<EqualFiles> equal_files;
  std::vector<FileDigest> outputs;
  std::vector<ToolOutput> tool_output;
  // A digest of the preprocessed text with its line numbers, because `tool_output` may name lines. Keys omit
  // line positions.
  std::string tool_output_source;
  std::string unsettled;  // the file that changed while tools ran; "": none did
  // A file of the project that makes tools read files which no compiler names (.incbin in assembler); "":
  // there is none. Such a record is always stale.
  std::string incomplete;
  // A file that uses the time of its compile (__DATE__), which no SOURCE_DATE_EPOCH fixes; "": there is none.
  // Such a record is always stale, too.
  std::string clock;
  std::vector<FileTime> file_times;
  bool operator==(const Record&) const = default;
};

// Whether the record can ever be up to date: unsettled, incomplete and clock are empty.
bool can_hold(const Record& record);

// The part of `tool_output` by one tool, and by all tools after the preprocessor.
std::vector<ToolOutput> output_of_tool(const Record& record, std::string_view tool);
std::vector<ToolOutput> output_after_preprocessor(const Record& record);

// Adds a tool's output to `tool_output`. Does nothing for an empty text.
void add_tool_output(Record& record, const char* tool, std::string text);
// Whether the messages in `tool_output` have the right line numbers for a text with this digest of its lines.
// "" fits every record.
bool names_lines_of(const Record& record, const std::string& lines);

// The first line is the digest of the rest. nullopt: damaged, or of a different version.
std::string render_record(const Record& record);
std::optional<Record> parse_record(std::string_view text);

// The files next to an output: its record, and its last record that was stale.
std::string record_file(const std::string& output);
std::string old_record_file(const std::string& output);

}  // namespace dsbuild
