#include "base/args.h"
#include "base/text.h"
#include "project/project.h"
#include "toolkit/host_compiler.h"

namespace dsbuild {
namespace {

// Many a setup.py hands on `-ccbin $CC`: where that is the compiler that dsbuild takes anyway it is no matter
// of the pack. Another is one word, for the line that says why it is left out.
Args without_usual_compiler(const Args& flags, const Settings& settings, const System& system) {
  Args left;
  for (size_t i = 0; i < flags.size(); ++i) {
    const std::string flag = trim(flags[i]);
    const size_t equals = flag.find('=');
    const std::string option = flag.substr(0, equals);
    if (option != "-ccbin" && option != "--compiler-bindir") {
      left.push_back(flags[i]);
      continue;
    }
    const bool is_next = equals == std::string::npos;
    const std::string named = !is_next               ? flag.substr(equals + 1)
                              : i + 1 < flags.size() ? trim(flags[i + 1])
                                                     : "";
    if (is_next) ++i;
    if (!is_usual_host_compiler(named, settings, system)) left.push_back(option + "=" + named);
  }
  return left;
}

}  // namespace

Result<WrittenProject> write_project(const NamedProject& named, const Path& pack_folder,
                                     const Settings& settings, const Path& cuda_home, System& system) {
  FileSystem& files = system.files;
  DSBUILD_TRY(project, read_project(named, pack_folder, settings, cuda_home, system));
  for (ProjectExtension& extension : project.extensions)
    extension.nvcc = without_usual_compiler(extension.nvcc, settings, system);
  DSBUILD_CHECK(files.make_directories(pack_folder));
  const Path folder = files.real_path(pack_folder).value_or(files.absolute(pack_folder));
  const Path root = project.folder.lexically_relative(folder);
  WrittenProject written{project.folder, pack_folder / "pack.yaml", pack_of(project, root.string()),
                         project.environment, project.passed};
  if (written.pack.ops == 0)
    return fail(project.whole ? Exit::unmet : Exit::failed, "bad_project", named.path.string(),
                project.whole ? "it has no extension that dsbuild can take as it is"
                              : "it has no extension that is one of torch",
                join(written.pack.said, "\n"));
  const auto there = files.read_file(written.pack_file);
  if (!there || *there != written.pack.text)
    DSBUILD_CHECK(files.write_file(written.pack_file, written.pack.text));
  return written;
}

}  // namespace dsbuild
