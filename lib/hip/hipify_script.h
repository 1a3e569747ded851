// The Python that calls torch's hipify; it imports nothing else of torch.
#pragma once

namespace dsbuild {

// Arguments: the folder of the package (torch/utils/hipify), a folder with a copy of all that is read, the
// include folders below it, "--", the sources below it. Files are changed and added in that folder alone. For
// each source a line "<source>\t<file that was made of it>"; a source that needs no change stays its own.
extern const char* const k_hipify_script;

}  // namespace dsbuild
