#include "binary/archive.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "binary/bytes.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_magic = "!<arch>\n";
constexpr std::string_view k_thin_magic = "!<thin>\n";
constexpr size_t k_member_header_size = 60;

tl::unexpected<Error> bad_archive(const std::string& name, std::string what, std::string fix) {
  return fail(Exit::failed, "bad_archive", name, std::move(what), std::move(fix));
}

std::optional<uint64_t> member_size(std::string_view header) {
  if (header.substr(58, 2) != "`\n") return std::nullopt;
  const std::string_view digits = header.substr(48, 10);
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const auto rest = digits.substr(static_cast<size_t>(end - digits.data()));
  const bool only_blanks_follow = rest.find_first_not_of(' ') == std::string_view::npos;
  return error == std::errc{} && only_blanks_follow ? std::optional(size) : std::nullopt;
}

std::string member_name(std::string_view header) {
  const std::string name = trim(header.substr(0, 16));
  return name.size() > 1 && name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
}

// "/" and "/SYM64/" are symbol tables, "//" holds long names; "/12" is a member with a long name.
bool is_table(std::string_view header) {
  return header.starts_with("/ ") || header.starts_with("//") || header.starts_with("/SYM64/");
}

}  // namespace

bool is_archive(Bytes file) {
  return as_text(file).starts_with(k_magic) || as_text(file).starts_with(k_thin_magic);
}

Result<std::vector<ArchiveMember>> archive_members(ByteRange file, const std::string& name) {
  DSBUILD_TRY(start, file.read(0, k_magic.size()));
  if (start == k_thin_magic) {
    return bad_archive(name, "is a thin archive: it holds names, not objects", "Give its objects instead.");
  }
  std::vector<ArchiveMember> members;
  uint64_t at = k_magic.size();
  while (at < file.size()) {
    DSBUILD_TRY(header, file.read(at, k_member_header_size));
    const auto size = header.size() == k_member_header_size ? member_size(header) : std::nullopt;
    const auto member = size ? file.part(at + k_member_header_size, *size) : std::nullopt;
    if (!member) {
      return bad_archive(name, "is damaged: no whole member at byte " + std::to_string(at), "Make it again.");
    }
    if (!is_table(header)) members.push_back({member_name(header), *member});
    at += k_member_header_size + member->size();
    at += at % 2;
  }
  return members;
}

Result<uint64_t> archive_size(ByteRange file) {
  uint64_t end = k_magic.size();
  while (true) {
    DSBUILD_TRY(header, file.read(end, k_member_header_size));
    const auto size = header.size() == k_member_header_size ? member_size(header) : std::nullopt;
    if (!size || !file.holds(end + k_member_header_size, *size)) return std::min(end, file.size());
    end += k_member_header_size + *size;
    end += end % 2;
  }
}

}  // namespace dsbuild
