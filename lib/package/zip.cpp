#include <minizip/zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "package/package.h"

namespace dsbuild {
namespace {

constexpr unsigned k_first_day = 0x00210000;       // 1980-01-01 00:00, the first that a zip file can name
constexpr unsigned k_plain_file = 0100644U << 16;  // where zip keeps a file's mode
constexpr unsigned k_made_on_unix = (3U << 8) | 20;
constexpr unsigned k_utf8_names = 1U << 11;

// What minizip writes to. Its functions are C's: they get the archive as `opaque`.
struct Archive {
  std::string bytes;
  size_t at = 0;
};

Archive& archive_of(void* opaque) {
  return *static_cast<Archive*>(opaque);
}

void* open_archive(void* opaque, const void*, int) {
  return opaque;
}

uLong read_archive(void* opaque, void*, void* buffer, uLong size) {
  Archive& archive = archive_of(opaque);
  const size_t count = std::min<size_t>(size, archive.bytes.size() - archive.at);
  std::memcpy(buffer, archive.bytes.data() + archive.at, count);
  archive.at += count;
  return count;
}

uLong write_archive(void* opaque, void*, const void* buffer, uLong size) {
  Archive& archive = archive_of(opaque);
  archive.bytes.resize(std::max<size_t>(archive.bytes.size(), archive.at + size));
  std::memcpy(archive.bytes.data() + archive.at, buffer, size);
  archive.at += size;
  return size;
}

ZPOS64_T tell_archive(void* opaque, void*) {
  return archive_of(opaque).at;
}

long seek_archive(void* opaque, void*, ZPOS64_T offset, int origin) {
  Archive& archive = archive_of(opaque);
  const size_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                      : origin == ZLIB_FILEFUNC_SEEK_CUR ? archive.at
                                                         : archive.bytes.size();
  archive.at = from + offset;
  return 0;
}

int close_archive(void*, void*) {
  return 0;
}

int archive_error(void*, void*) {
  return 0;
}

bool add_file(zipFile zip, const PackageFile& file) {
  zip_fileinfo info{};
  info.dosDate = k_first_day;
  info.external_fa = k_plain_file;
  const bool is_huge = file.bytes.size() >= 0xffffffffU;
  const int opened =
      zipOpenNewFileInZip4_64(zip, file.path.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED,
                              Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY,
                              nullptr, 0, k_made_on_unix, k_utf8_names, is_huge ? 1 : 0);
  // It takes at most 4 GiB at a time.
  constexpr size_t k_piece = 1U << 30;
  bool written = opened == ZIP_OK;
  for (size_t at = 0; written && at < file.bytes.size(); at += k_piece) {
    const size_t size = std::min(k_piece, file.bytes.size() - at);
    written = zipWriteInFileInZip(zip, file.bytes.data() + at, static_cast<unsigned>(size)) == ZIP_OK;
  }
  return written && zipCloseFileInZip(zip) == ZIP_OK;
}

}  // namespace

Result<std::string> make_zip(const std::vector<PackageFile>& files) {
  Archive archive;
  zlib_filefunc64_def functions{open_archive, read_archive,  write_archive, tell_archive,
                                seek_archive, close_archive, archive_error, &archive};
  zipFile zip = zipOpen2_64(nullptr, APPEND_STATUS_CREATE, nullptr, &functions);
  bool written = zip != nullptr;
  for (const PackageFile& file : files)
    written = written && add_file(zip, file);
  written = zip && zipClose(zip, nullptr) == ZIP_OK && written;
  if (written) return std::move(archive.bytes);
  return fail(Exit::failed, "io", "wheel", "the archive cannot be made: there is not enough memory",
              "Free memory, or build fewer ops.");
}

}  // namespace dsbuild
