// Comments, which no preprocessor hands on: an edit of one should not even start it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// A source without the comments behind which a line ends, the blanks before them, and the blank lines at its
// end. All that is left stands in its line and column, so two sources of which this is the same are the same
// to a preprocessor, but for how many blank lines their ends make. Comments before code stay: they move it.
// The source as it is where its characters alone do not tell what is a comment: an unpaired quote (in an
// #error, say), trigraphs, tokens that go on in the next line, a carriage return in a line, a comment over
// lines behind a directive, names of headers with "//" or quotes in <>; and where it names a macro that tells
// the time. (gcc takes two files with #pragma once for one if all their bytes and their times are the same.
// Such a pair in one compile, told apart by an edit of a comment alone, is not seen.)
std::string without_comments(std::string_view source);

// Whether comments may reach what a compile or preprocess command makes, or whether it succeeds: it hands
// them on (-C), keeps the source (debug information, nvcc's PTX), takes words from elsewhere (@file), or
// makes warnings errors (-Werror), and comments have warnings of their own.
bool keeps_comments(const std::vector<std::string>& command);

// The source, without its comments unless they may reach what the command makes.
std::string text_that_counts(std::string_view source, const std::vector<std::string>& command);

// Whether a source may have the directive #embed, which reads files as data: it names it.
bool embeds_files(std::string_view source);

// Whether code may have the assembler read files (.incbin), which no depfile names.
bool reads_unnamed_files(std::string_view source);

}  // namespace dsbuild
