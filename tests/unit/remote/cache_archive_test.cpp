#include "remote/cache_archive_layout.h"
#include "remote/tar.h"

#include <catch2/catch.hpp>

namespace dsbuild {
namespace {

// By Python 3.11: tarfile.TarInfo("ac/" + "1" * 2 + "/" + "2" * 62), size 1234567,
// .tobuf(tarfile.USTAR_FORMAT).
std::string header_of_python() {
  std::string block(k_tar_block, '\0');
  const auto set = [&](size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  set(0, "ac/11/" + std::string(62, '2'));
  set(100, "0000644");
  set(108, "0000000");
  set(116, "0000000");
  set(124, "00004553207");
  set(136, "00000000000");
  set(148, std::string_view("014627\0 ", 8));
  block[156] = '0';
  set(257, std::string_view("ustar\0"
                            "00",
                            8));
  return block;
}

}  // namespace

TEST_CASE("headers of tar are those of Python's tarfile") {
  const TarMember member{"ac/11/" + std::string(62, '2'), 1234567};
  CHECK(render_tar_header(member) == header_of_python());
  CHECK(parse_tar_header(header_of_python()) == member);
  CHECK(tar_padding(0) == 0);
  CHECK(tar_padding(1) == 511);
  CHECK(tar_padding(512) == 0);
}

TEST_CASE("a header with any byte changed is none, or says the same") {
  const std::string whole = render_tar_header({"keys", 77});
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {1, 0x80}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto member = parse_tar_header(changed);
      if (member) CHECK(*member == TarMember{"keys", 77});
    }
}

TEST_CASE("names of members lead nowhere else") {
  const RemoteName name{RemoteKind::cas, std::string(64, 'a')};
  CHECK(parse_member_name(member_name(name)) == name);
  const std::string rest = std::string(62, 'a');
  for (const std::string& bad : {std::string(), std::string("ac"), std::string("ac/"), "../ac/aa/" + rest,
                                 "/ac/aa/" + rest, "ac/../" + rest, "ac/aa/../" + rest, "ac//aa/" + rest,
                                 "ac/aa/" + rest + "a", "ac/aaa/" + std::string(61, 'a'), "ac/AA/" + rest,
                                 "cas/aa" + rest, "cas/aa/" + rest + "/", "bs/aa/" + rest})
    CHECK_FALSE(parse_member_name(bad));
}

TEST_CASE("lists of keys") {
  const ArchiveKeys keys{
      "pr-7", {{UpstreamKind::result, std::string(64, '1')}, {UpstreamKind::records, std::string(64, '2')}}};
  const std::string text = "dsbuild-archive 1\nscope pr-7\nresult " + std::string(64, '1') + "\nrecords " +
                           std::string(64, '2') + "\n";
  CHECK(render_archive_keys(keys) == text);
  CHECK(parse_archive_keys(text) == keys);
  CHECK(parse_archive_keys("dsbuild-archive 1\nscope \n") == ArchiveKeys{});
  for (const std::string& bad :
       {std::string(), std::string("dsbuild-archive 2\nscope \n"), text + "result ../x\n",
        text + "results " + std::string(64, '1') + "\n", text.substr(0, text.size() - 9)})
    CHECK_FALSE(parse_archive_keys(bad));
}

}  // namespace dsbuild
