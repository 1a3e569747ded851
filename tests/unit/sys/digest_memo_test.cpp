#include "sys/digest_memo.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"
#include "sys/clock.h"
#include "unit/sys/temporary_folder.h"

using namespace dsbuild;

TEST_CASE("A file is read once for its digest, and again when it changed") {
  FakeFileSystem files;
  files.add_file("/src/a.cu", "abc");
  DigestMemo digests(files, "/memo");
  CHECK(digests.digest("/src/a.cu").value() == sha256("abc"));
  files.reads.clear();
  CHECK(digests.digest("/src/a.cu").value() == sha256("abc"));
  CHECK(files.reads.empty());
  files.add_file("/src/a.cu", "abd");
  CHECK(digests.digest("/src/a.cu").value() == sha256("abd"));
  digests.save();
  files.reads.clear();
  CHECK(DigestMemo(files, "/memo").digest("/src/a.cu").value() == sha256("abd"));
  CHECK(std::count(files.reads.begin(), files.reads.end(), "/src/a.cu") == 0);
}

TEST_CASE("Where identities are not trusted, each file is read each time") {
  FakeFileSystem files;
  files.add_file("/src/a.cu", "abc");
  DigestMemo trusting(files, "/memo");
  REQUIRE(trusting.digest("/src/a.cu"));
  trusting.save();
  files.change_unseen("/src/a.cu", "abd");
  CHECK(DigestMemo(files, "/memo").digest("/src/a.cu").value() == sha256("abc"));
  DigestMemo paranoid(files, "/memo", Trust::nothing);
  CHECK(paranoid.digest("/src/a.cu").value() == sha256("abd"));
  files.change_unseen("/src/a.cu", "abe");
  CHECK(paranoid.digest("/src/a.cu").value() == sha256("abe"));
  paranoid.save();
  CHECK(DigestMemo(files, "/memo").digest("/src/a.cu").value() == sha256("abe"));
}

TEST_CASE("A variable says whether identities are trusted") {
  CHECK(trust_of({}) == Trust::identities);
  for (const char* off : {"", "0", "off", "NO", "false"})
    CHECK(trust_of({{"DSBUILD_PARANOID", off}}) == Trust::identities);
  CHECK(trust_of({{"DSBUILD_PARANOID", "1"}}) == Trust::nothing);
  CHECK(trust_of({{"DSBUILD_PARANOID", "yes"}}) == Trust::nothing);
}

TEST_CASE("A file that cannot be read has no digest") {
  FakeFileSystem files;
  CHECK(DigestMemo(files, "/memo").digest("/absent").error().where == "/absent");
}

TEST_CASE("What two processes have found is kept of both, and a damaged file of digests counts as empty") {
  FakeFileSystem files;
  files.add_file("/src/a", "a");
  files.add_file("/src/b", "b");
  DigestMemo first(files, "/memo"), second(files, "/memo");
  REQUIRE(first.digest("/src/a"));
  REQUIRE(second.digest("/src/b"));
  first.save();
  second.save();
  files.reads.clear();
  DigestMemo both(files, "/memo");
  CHECK(both.digest("/src/a").value() == sha256("a"));
  CHECK(both.digest("/src/b").value() == sha256("b"));
  CHECK(std::count(files.reads.begin(), files.reads.end(), "/src/a") +
            std::count(files.reads.begin(), files.reads.end(), "/src/b") ==
        0);
  for (const std::string& path : files.tree("/memo"))
    if (files.kind(path) == FileKind::file) {
      std::string bytes = files.bytes(path);
      bytes[bytes.size() / 2] = '~';
      files.add_file(path, bytes);
    }
  files.reads.clear();
  CHECK(DigestMemo(files, "/memo").digest("/src/a").value() == sha256("a"));
  CHECK(std::count(files.reads.begin(), files.reads.end(), "/src/a") == 1);
}

// A write within the same tick of the clock leaves no trace in a file's identity.
TEST_CASE("A digest of a file that was just written is not remembered") {
  const TemporaryFolder folder;
  const auto files = make_real_file_system();
  const Path file = folder.path() / "a";
  REQUIRE(files->write_file(file, "one"));
  DigestMemo digests(*files, folder.path() / "memo");
  CHECK(digests.digest(file).value() == sha256("one"));
  digests.save();
  CHECK(files->kind(folder.path() / "memo") == FileKind::absent);
}
