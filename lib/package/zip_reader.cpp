#include "package/zip_reader.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cstring>

namespace dsbuild {
namespace {

constexpr size_t k_piece = 1 << 18;
// What stays in memory of what was unpacked: the names of an ELF file's sections lie just before their
// headers.
constexpr size_t k_window = 4 << 20;

tl::unexpected<Error> bad_zip(const std::string& name, const std::string& what) {
  return fail(Exit::failed, "bad_archive", name, what, "Download it again, or check how it was copied.");
}

// What minizip reads from. Its functions are C's: they get the archive as `opaque`.
struct SourceStream {
  const ByteSource& source;
  uint64_t at = 0;
  bool has_failed = false;
};

SourceStream& stream_of(void* opaque) {
  return *static_cast<SourceStream*>(opaque);
}

void* open_stream(void* opaque, const void*, int) {
  return opaque;
}

uLong read_stream(void* opaque, void*, void* buffer, uLong size) {
  SourceStream& stream = stream_of(opaque);
  // A damaged archive may send it anywhere: a range gives what there is.
  const auto bytes = ByteRange(stream.source).read(stream.at, size);
  stream.has_failed |= !bytes;
  if (!bytes) return 0;
  std::memcpy(buffer, bytes->data(), bytes->size());
  stream.at += bytes->size();
  return bytes->size();
}

uLong write_stream(void*, void*, const void*, uLong) {
  return 0;
}

ZPOS64_T tell_stream(void* opaque, void*) {
  return stream_of(opaque).at;
}

long seek_stream(void* opaque, void*, ZPOS64_T offset, int origin) {
  SourceStream& stream = stream_of(opaque);
  if (origin == ZLIB_FILEFUNC_SEEK_SET) stream.at = offset;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) stream.at += offset;
  if (origin == ZLIB_FILEFUNC_SEEK_END) stream.at = stream.source.size() + offset;
  return 0;
}

int close_stream(void*, void*) {
  return 0;
}

int stream_error(void* opaque, void*) {
  return stream_of(opaque).has_failed ? 1 : 0;
}

// An archive that minizip has opened.
class Unzip {
 public:
  explicit Unzip(const ByteSource& source) : stream_{source} {
    zlib_filefunc64_def functions{open_stream, read_stream,  write_stream, tell_stream,
                                  seek_stream, close_stream, stream_error, &stream_};
    file_ = unzOpen2_64("", &functions);
  }
  Unzip(const Unzip&) = delete;
  Unzip& operator=(const Unzip&) = delete;
  ~Unzip() {
    if (file_) unzClose(file_);
  }
  unzFile get() const { return file_; }

 private:
  SourceStream stream_;
  unzFile file_ = nullptr;
};

class MemberBytes : public ByteSource {
 public:
  MemberBytes(const ByteSource& archive, const ZipMember& member, std::string name)
      : unzip_(std::make_unique<Unzip>(archive)), size_(member.size), name_(std::move(name)) {
    unz64_file_pos place{member.place, member.number};
    is_found_ = unzip_->get() && unzGoToFilePos64(unzip_->get(), &place) == UNZ_OK;
  }

  Result<void> start() const {
    unzCloseCurrentFile(unzip_->get());
    window_.clear();
    begin_ = 0;
    if (!is_found_ || unzOpenCurrentFile(unzip_->get()) != UNZ_OK)
      return bad_zip(
          name_,
          "it cannot be unpacked: it is damaged, has a password or is compressed by something else "
          "than deflate");
    return {};
  }

  uint64_t size() const override { return size_; }

  Result<std::string> read(uint64_t offset, uint64_t size) const override {
    if (offset < begin_) DSBUILD_CHECK(start());
    std::string bytes;
    while (bytes.size() < size) {
      const uint64_t wanted = offset + bytes.size();
      if (wanted < end()) {
        bytes +=
            window_.substr(static_cast<size_t>(wanted - begin_), static_cast<size_t>(size) - bytes.size());
      } else {
        DSBUILD_CHECK(go_on());
      }
    }
    return bytes;
  }

 private:
  uint64_t end() const { return begin_ + window_.size(); }

  // Unpacks another piece.
  Result<void> go_on() const {
    if (window_.size() >= 2 * k_window) {
      begin_ += window_.size() - k_window;
      window_.erase(0, window_.size() - k_window);
    }
    const size_t before = window_.size();
    window_.resize(before + k_piece);
    const int count = unzReadCurrentFile(unzip_->get(), window_.data() + before, k_piece);
    window_.resize(before + static_cast<size_t>(std::max(count, 0)));
    if (count <= 0) return bad_zip(name_, "it is damaged: it cannot be unpacked as far as its size says");
    // Only at its end can its checksum be compared; minizip does it where a member is closed.
    if (end() == size_ && unzCloseCurrentFile(unzip_->get()) == UNZ_CRCERROR)
      return bad_zip(name_, "it is damaged: its checksum differs");
    return {};
  }

  std::unique_ptr<Unzip> unzip_;
  uint64_t size_;
  std::string name_;
  bool is_found_ = false;
  mutable std::string window_;  // the bytes from begin_ to what was unpacked last
  mutable uint64_t begin_ = 0;
};

// What minizip says of the member that it stands at.
Result<ZipMember> current_member(unzFile archive, const std::string& name) {
  unz_file_info64 info{};
  unz64_file_pos place{};
  if (unzGetCurrentFileInfo64(archive, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK ||
      unzGetFilePos64(archive, &place) != UNZ_OK)
    return bad_zip(name, "its list of members is damaged");
  std::string path(info.size_filename, '\0');
  if (unzGetCurrentFileInfo64(archive, &info, path.data(), info.size_filename, nullptr, 0, nullptr, 0) !=
      UNZ_OK)
    return bad_zip(name, "its list of members is damaged");
  return ZipMember{std::move(path), info.uncompressed_size, place.pos_in_zip_directory, place.num_of_file};
}

}  // namespace

bool is_zip(Bytes start) {
  return as_text(start).starts_with("PK\x03\x04") || as_text(start).starts_with("PK\x05\x06");
}

Result<std::vector<ZipMember>> zip_members(const ByteSource& archive, const std::string& name) {
  const Unzip unzip(archive);
  if (!unzip.get()) return bad_zip(name, "it is cut off: a zip archive's list of members is at its end");
  std::vector<ZipMember> members;
  int state = unzGoToFirstFile(unzip.get());
  while (state == UNZ_OK) {
    DSBUILD_TRY(member, current_member(unzip.get(), name));
    if (!member.path.empty() && !member.path.ends_with('/')) members.push_back(std::move(member));
    state = unzGoToNextFile(unzip.get());
  }
  unz_global_info64 info{};
  const bool is_empty = unzGetGlobalInfo64(unzip.get(), &info) == UNZ_OK && info.number_entry == 0;
  if (state != UNZ_END_OF_LIST_OF_FILE && !is_empty) return bad_zip(name, "its list of members is damaged");
  return members;
}

Result<std::unique_ptr<ByteSource>> open_zip_member(const ByteSource& archive, const ZipMember& member,
                                                    const std::string& name) {
  auto bytes = std::make_unique<MemberBytes>(archive, member, name);
  DSBUILD_CHECK(bytes->start());
  return bytes;
}

}  // namespace dsbuild
