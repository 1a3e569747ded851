// Lists that were typed as the shell's words or option by option: `--arch 8.0 9.0`, `--ops one --ops two`.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

using Words = std::vector<std::string>;

// The same words (without the program's name) with each list as one word: `--arch 8.0,9.0`. Empty where there
// is nothing to mend. `commands`: words that are none of a list.
Words with_mended_lists(const Words& words, const Words& commands);

}  // namespace dsbuild
