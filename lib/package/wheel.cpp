#include "package/package.h"

namespace dsbuild {

Result<WrittenWheel> write_wheel(const Package& package, const Path& folder, FileSystem& files) {
  Path wheel = folder / package.wheel_name();
  DSBUILD_TRY(bytes, make_zip(distribution_files(package, "")));
  DSBUILD_CHECK(files.make_directories(folder));
  DSBUILD_CHECK(files.write_file(wheel, bytes));
  return WrittenWheel{std::move(wheel), bytes.size()};
}

}  // namespace dsbuild
