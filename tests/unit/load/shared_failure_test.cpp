// One compile that fails, for all who waited for it.
#include "load/shared_failure.h"

#include <catch2/catch.hpp>

#include "unit/sys/temporary_folder.h"

using namespace dsbuild;

namespace {

Error error_of(const std::string& code, const std::string& where) {
  Error error;
  error.exit = Exit::failed;
  error.code = code;
  error.where = where;
  error.what = "1 edge failed";
  error.fix = "Mend it.";
  return error;
}

}  // namespace

TEST_CASE("A compiler's failure is shared, what ended this process alone is not") {
  CHECK(is_shared(error_of("edge_failed", "scale")));
  CHECK(is_shared(error_of("out_of_time", "obj/scale.o")));
  CHECK_FALSE(is_shared(error_of("out_of_time", "build")));
  CHECK_FALSE(is_shared(error_of("cancelled", "build")));
  CHECK_FALSE(is_shared(error_of("io", "lock")));
}

TEST_CASE("A failure is that of who waited when it happened and asked for the same") {
  const TemporaryFolder folder;
  const auto files = make_real_file_system();
  CHECK_FALSE(failure_since(folder.path(), "scale", 0, *files));
  share_failure(folder.path(), "scale", error_of("edge_failed", "scale"), 100, *files);
  const auto shared = failure_since(folder.path(), "scale", 99.5, *files);
  REQUIRE(shared);
  CHECK(shared->exit == Exit::failed);
  CHECK(shared->code == "edge_failed");
  CHECK(shared->what ==
        "another process built it, and 1 edge failed; its log is in " + (folder / "build" / "log").string());
  CHECK_FALSE(failure_since(folder.path(), "scale", 100, *files));
  CHECK_FALSE(failure_since(folder.path(), "other", 99.5, *files));
  REQUIRE(files->write_file(folder / "failed.json", "{"));
  CHECK_FALSE(failure_since(folder.path(), "scale", 99.5, *files));
}
