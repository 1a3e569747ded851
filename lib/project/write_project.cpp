#include "project/project.h"

namespace dsbuild {

Result<WrittenProject> write_project(const NamedProject& named, const Path& pack_folder,
                                     const Settings& settings, const Path& cuda_home, System& system) {
  FileSystem& files = system.files;
  DSBUILD_TRY(project, read_project(named, pack_folder, settings, cuda_home, system));
  DSBUILD_CHECK(files.make_directories(pack_folder));
  const Path folder = files.real_path(pack_folder).value_or(files.absolute(pack_folder));
  const Path root = project.folder.lexically_relative(folder);
  WrittenProject written{project.folder, pack_folder / "pack.yaml", pack_of(project, root.string())};
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
