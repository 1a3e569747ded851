#include "hip/hipify_script.h"

namespace dsbuild {

// With the arguments that torch's own builder of extensions has for it (torch/utils/cpp_extension.py). The
// package is loaded by its path: whatever else lies beside it, and torch itself, is no module here.
const char* const k_hipify_script = R"py(
import importlib.util, os, sys
sys.dont_write_bytecode = True
answer, sys.stdout = sys.stdout, sys.stderr
package, root, *words = sys.argv[1:]
folders, sources = words[: words.index("--")], words[words.index("--") + 1 :]
spec = importlib.util.spec_from_file_location(
    "hipify", os.path.join(package, "__init__.py"), submodule_search_locations=[package])
sys.modules["hipify"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["hipify"])
from hipify import hipify_python
root = os.path.abspath(root)
files = [os.path.join(root, source) for source in sources]
results = hipify_python.hipify(
    project_directory=root, output_directory=root, includes=[os.path.join(root, "*")], extra_files=files,
    header_include_dirs=folders, is_pytorch_extension=True, hipify_extra_files_only=True, show_progress=False)
for source, file in zip(sources, files):
    made = results[file].hipified_path or file
    print(source + "\t" + os.path.relpath(made, root), file=answer)
)py";

}  // namespace dsbuild
