// The Python program that calls torch's hipify; it imports nothing else of torch.
#pragma once

namespace dsbuild {

// Arguments: the folder of the package (torch/utils/hipify), a folder with copies of all files that are read,
// the include folders below it, "--", the sources below it. The program changes and adds files in that folder
// alone. It prints a line "<source>\t<translated file>" for each source; for a source that needs no change,
// both are the source.
extern const char* const k_hipify_script;

}  // namespace dsbuild
