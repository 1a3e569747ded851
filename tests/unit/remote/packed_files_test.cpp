#include "remote/packed_files.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/digest.h"

namespace dsbuild {
namespace {

class MemoryBlobs : public BlobStore {
 public:
  std::vector<std::optional<std::string>> find(const std::vector<std::string>& digests) const override {
    reads += static_cast<int>(digests.size());
    std::vector<std::optional<std::string>> found;
    for (const std::string& digest : digests)
      found.push_back(bytes.contains(digest) ? std::optional(bytes.at(digest)) : std::nullopt);
    return found;
  }
  std::vector<bool> has(const std::vector<std::string>& digests) const override {
    std::vector<bool> found;
    for (const std::string& digest : digests)
      found.push_back(bytes.contains(digest));
    return found;
  }
  bool put(const std::string& digest, std::string_view text) const override {
    bytes[digest] = text;
    return true;
  }

  std::string add(const std::string& text) const {
    const std::string digest = sha256(text);
    bytes[digest] = text;
    return digest;
  }
  mutable int reads = 0;
  mutable std::map<std::string, std::string> bytes;
};

std::string noise(unsigned seed, size_t bytes) {
  std::mt19937 generator(seed);
  std::string text(bytes, '\0');
  for (char& byte : text)
    byte = static_cast<char>(generator());
  return text;
}

// One machine's files, and what is there of them, by digest of the packed bytes.
struct Machine {
  explicit Machine(bool contents = true) : packer(blobs, contents) {}

  std::string upload(const std::string& text, bool arrives = true) {
    std::string digest = blobs.add(text);
    auto packed = packer.pack(digest, text, FilePacker::Bases::any);
    REQUIRE(packed);
    if (packed->bytes.empty()) return digest;
    sent += packed->bytes.size();
    if (arrives) there[packed->output.digest] = packed->bytes;
    packer.end_put(digest, arrives);
    return digest;
  }

  MemoryBlobs blobs;
  FilePacker packer;
  std::map<std::string, std::string> there;
  size_t sent = 0;
};

std::set<std::string> download(const RemoteEntry& entry, const std::map<std::string, std::string>& there,
                               const MemoryBlobs& blobs) {
  FileUnpacker unpacker(blobs);
  unpacker.add(entry);
  for (const RemoteOutput& output : unpacker.missing())
    if (const auto found = there.find(output.digest); found != there.end())
      unpacker.take(output, found->second);
  return unpacker.unpack();
}

}  // namespace

TEST_CASE("a file that is almost one that is there already takes almost nothing, and comes back whole") {
  Machine machine;
  const std::string text = noise(1, 200'000),
                    changed = "x" + text.substr(0, 100'000) + "y" + text.substr(100'000);
  machine.upload(text);
  const size_t before = machine.sent;
  CHECK(before > 190'000);
  const std::string digest = machine.upload(changed);
  CHECK(machine.sent - before < 1'000);

  const auto entry = machine.packer.entry_of({{".ptx", digest, changed.size(), 1500}});
  REQUIRE(entry);
  REQUIRE(entry->size() == 2);
  CHECK((*entry)[0].file == CachedFile{".ptx", digest, changed.size(), 1500});
  CHECK_FALSE(is_base((*entry)[0]));
  CHECK(is_base((*entry)[1]));

  MemoryBlobs empty;
  CHECK(download(*entry, machine.there, empty) == std::set{digest});
  CHECK(empty.bytes.at(digest) == changed);
}

TEST_CASE("what a base is packed with comes along, and what is here already is not fetched") {
  Machine machine(false);
  const std::string a = noise(1, 100'000), b = noise(2, 100'000), object = a + b,
                    library = "h" + object + "t";
  machine.upload(a);
  machine.upload(b);
  const std::string middle = machine.upload(object), digest = machine.upload(library);
  CHECK(machine.sent < 210'000);
  const auto entry = machine.packer.entry_of({{"lib.so", digest, library.size()}});
  REQUIRE(entry);

  MemoryBlobs empty;
  CHECK(download(*entry, machine.there, empty) == std::set{digest});
  CHECK(empty.bytes.at(digest) == library);

  MemoryBlobs has_object;
  has_object.add(object);
  FileUnpacker unpacker(has_object);
  unpacker.add(*entry);
  CHECK(unpacker.missing().size() <= 2);  // itself and, where it is one of its bases, an image
}

TEST_CASE("a file that several others are packed with is read once, and one that just came not at all") {
  Machine machine(false);
  const std::string base = noise(1, 100'000);
  const std::string digest_of_base = machine.upload(base);
  std::vector<CachedFile> files;
  for (int i = 0; i < 5; ++i) {
    const std::string changed = std::to_string(i) + base;
    files.push_back({std::to_string(i), machine.upload(changed), changed.size()});
  }
  const auto entry = machine.packer.entry_of(files);
  REQUIRE(entry);

  MemoryBlobs empty;
  CHECK(download(*entry, machine.there, empty).size() == 5);
  CHECK(empty.reads == 0);
  MemoryBlobs has_base;
  has_base.add(base);
  CHECK(download(*entry, machine.there, has_base).size() == 5);
  CHECK(has_base.reads == 1);
}

TEST_CASE("a base that is lost or damaged makes a miss of what is packed with it") {
  Machine machine;
  const std::string text = noise(1, 100'000), changed = "x" + text;
  const std::string base = machine.upload(text), digest = machine.upload(changed);
  const auto entry = machine.packer.entry_of({{".ptx", digest, changed.size()}});
  REQUIRE(entry);
  const std::string packed_base = (*entry)[1].digest;

  auto lost = machine.there;
  lost.erase(packed_base);
  MemoryBlobs empty;
  CHECK(download(*entry, lost, empty).empty());
  auto damaged = machine.there;
  damaged[packed_base][5'000] ^= 1;
  CHECK(download(*entry, damaged, empty).empty());
  CHECK(empty.bytes.empty());
}

TEST_CASE("nothing refers to a file that did not get there") {
  Machine machine;
  const std::string text = noise(1, 100'000), changed = "x" + text;
  const std::string base = machine.upload(text, false);
  CHECK_FALSE(machine.packer.entry_of({{".ptx", base, text.size()}}));
  const std::string digest = machine.upload(changed);
  const auto entry = machine.packer.entry_of({{".ptx", digest, changed.size()}});
  REQUIRE(entry);
  CHECK(entry->size() == 1);
}

TEST_CASE("small files are in the entry, unless the store takes none") {
  for (const bool contents : {true, false}) {
    Machine machine(contents);
    const std::string digest = machine.upload("a record");
    CHECK(machine.there.empty() == contents);
    const auto entry = machine.packer.entry_of({{"record", digest, 8}});
    REQUIRE(entry);
    CHECK(entry->front().contents.empty() != contents);
    MemoryBlobs empty;
    CHECK(download(*entry, machine.there, empty) == std::set{digest});
  }
}

TEST_CASE("entries that lead in circles or deeper than any of ours end in misses") {
  const std::string a(64, 'a'), b(64, 'b');
  RemoteEntry circle = {{{".x", a, 10}, std::string(64, 'c'), 5, {b}, "packed"},
                        {{base_name(b), b, 10}, std::string(64, 'd'), 5, {a}, "packed"}};
  MemoryBlobs empty;
  CHECK(download(circle, {}, empty).empty());
  RemoteEntry chain;
  for (char c = 'a'; c < 'z'; ++c)
    chain.push_back({{base_name(std::string(64, c)), std::string(64, c), 10},
                     std::string(64, '0'),
                     5,
                     {std::string(64, static_cast<char>(c + 1))},
                     "packed"});
  chain.front().file.name = ".x";
  CHECK(download(chain, {}, empty).empty());
}

}  // namespace dsbuild
