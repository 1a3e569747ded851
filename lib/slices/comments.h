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
// #error, say), trigraphs, tokens that go on in the next line, a carriage return in a line, names of headers
// with "//" or quotes in <>.
std::string without_comments(std::string_view source);

// Whether comments may reach what a compile or preprocess command makes: it hands them on (-C), keeps the
// source (debug information, nvcc's PTX), reads a source's bytes as data, or takes words from elsewhere.
bool keeps_comments(const std::vector<std::string>& command);

// The source, without its comments unless they may reach what the command makes.
std::string text_that_counts(std::string_view source, const std::vector<std::string>& command);

// Whether a source has the directive #embed, for which bytes count, comments or not.
bool embeds_files(std::string_view source);

}  // namespace dsbuild
