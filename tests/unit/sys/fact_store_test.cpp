#include "sys/fact_store.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"

using namespace dsbuild;

TEST_CASE("A fact is found again under the same identity only") {
  FakeFileSystem files;
  {
    FactStore facts(files, "/build/facts.json");
    facts.put("nvcc", "id1", "13.0.88");
    facts.save();
  }
  const FactStore facts(files, "/build/facts.json");
  CHECK(facts.find("nvcc", "id1") == "13.0.88");
  CHECK_FALSE(facts.find("nvcc", "id2"));
  CHECK_FALSE(facts.find("g++", "id1"));
}

TEST_CASE("The file has the form that the header promises") {
  FakeFileSystem files;
  FactStore facts(files, "/build/facts.json");
  facts.put("key", "id", "value");
  facts.save();
  const std::string rest = R"(","facts":{"key":{"identity":"id","value":"value"}},"schema":3})";
  CHECK(files.bytes("/build/facts.json") == R"({"digest":")" + sha256(rest) + rest);
}

TEST_CASE("Nothing is written when nothing changed") {
  FakeFileSystem files;
  FactStore facts(files, "/build/facts.json");
  facts.save();
  CHECK(files.writes.empty());
  facts.put("key", "id", "value");
  facts.save();
  files.writes.clear();
  facts.put("key", "id", "value");
  facts.save();
  CHECK(files.writes.empty());
}

TEST_CASE("What another process put meanwhile stays, but for what this one put itself") {
  FakeFileSystem files;
  FactStore facts(files, "/build/facts.json"), others(files, "/build/facts.json");
  others.put("theirs", "id", "kept");
  others.put("both", "id", "older");
  others.save();
  facts.put("ours", "id", "kept");
  facts.put("both", "id", "newer");
  facts.save();
  const FactStore read(files, "/build/facts.json");
  CHECK(read.find("theirs", "id") == "kept");
  CHECK(read.find("ours", "id") == "kept");
  CHECK(read.find("both", "id") == "newer");
}

TEST_CASE("A folder that cannot be written is no error, and is tried again") {
  FakeFileSystem files;
  files.fail_writes("/build", "Read-only file system");
  FactStore facts(files, "/build/facts.json");
  facts.put("key", "id", "value");
  facts.save();
  CHECK(facts.find("key", "id") == "value");
  files.fail_writes("/build", "");
  facts.save();
  CHECK(files.exists("/build/facts.json"));
}

TEST_CASE("A damaged or foreign file counts as empty") {
  const auto document = [](const std::string& schema, const std::string& facts) {
    const std::string rest = R"(","facts":)" + facts + R"(,"schema":)" + schema + "}";
    return R"({"digest":")" + sha256(rest) + rest;
  };
  const std::string facts = R"({"key":{"identity":"id","value":"value"}})";
  const std::string whole = document("3", facts);
  const auto found = [](const std::string& text) {
    FakeFileSystem files;
    files.add_file("/f", text);
    return FactStore(files, "/f").find("key", "id");
  };
  for (size_t size = 0; size <= whole.size(); ++size)
    CHECK(found(whole.substr(0, size)).has_value() == (size == whole.size()));
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    CHECK(found(flipped).value_or("value") == "value");
  }
  for (const std::string& text :
       {std::string("[]"), std::string("1"), std::string("null"), std::string("\xff\xfe"),
        std::string(R"({"schema":3})"), std::string("{\"schema\":1e999}"), document("2", facts),
        document("\"3\"", facts), document("3", "[1,2]"), document("3", R"({"key":7})"),
        document("3", R"({"key":{"identity":7,"value":"v"}})")}) {
    INFO(text);
    CHECK_FALSE(found(text));
  }
  FakeFileSystem files;
  files.add_directory("/f");
  CHECK_FALSE(FactStore(files, "/f").find("key", "id"));
}

TEST_CASE("A key or value that is not UTF-8 does no harm") {
  FakeFileSystem files;
  FactStore facts(files, "/f");
  facts.put("\xff", "id", "\xfe");
  facts.put("key", "id", "value");
  facts.save();
  CHECK(FactStore(files, "/f").find("key", "id") == "value");
}

TEST_CASE("Of too many facts those go that this process had no use for") {
  FakeFileSystem files;
  {
    FactStore facts(files, "/f");
    for (const char* key : {"asked", "old", "older"})
      facts.put(key, "id", "value");
    facts.save();
  }
  FactStore facts(files, "/f");
  CHECK(facts.find("asked", "id") == "value");
  facts.put("new", "id", "value");
  facts.forget_unused(4);
  CHECK(facts.find("old", "id") == "value");
  facts.forget_unused(3);
  facts.save();
  const FactStore later(files, "/f");
  CHECK(later.find("asked", "id"));
  CHECK(later.find("new", "id"));
  CHECK(later.find("old", "id"));
  CHECK_FALSE(later.find("older", "id"));
}

namespace {

// What other machines know, by the texts and the names of files alone.
struct OtherMachines : SharedFacts {
  std::map<std::string, std::string> values;
  int asked = 0;

  static std::string name(const std::string& key, const FactBasis& basis) {
    std::string text = key + "|" + basis.text;
    for (const Path& path : basis.files)
      text += "|" + path.string();
    return text;
  }
  std::optional<std::string> find(const std::string& key, const FactBasis& basis) override {
    ++asked;
    const auto found = values.find(name(key, basis));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  void put(const std::string& key, const FactBasis& basis, const std::string& value) override {
    values[name(key, basis)] = value;
  }
};

std::vector<Path> named_by(const std::string& value) {
  return {value};
}

}  // namespace

TEST_CASE("A fact by its basis holds while the text and the files are the same") {
  FakeFileSystem files;
  files.add_file("/bin/nvcc", "nvcc");
  FactStore facts(files, "/f");
  const FactBasis basis = {"-help", {"/bin/nvcc", "/bin/nvcc.profile"}};
  facts.put("nvcc", basis, "13.0");
  CHECK(facts.find("nvcc", basis) == "13.0");
  CHECK_FALSE(facts.find("nvcc", {"-v", basis.files}));
  SECTION("a file is written") {
    files.touch("/bin/nvcc");
  }
  SECTION("a file comes to be") {
    files.add_file("/bin/nvcc.profile", "");
  }
  CHECK_FALSE(facts.find("nvcc", basis));
}

TEST_CASE("Without files the identity of a basis is its text") {
  FakeFileSystem files;
  FactStore facts(files, "/f");
  facts.put("slices", FactBasis{"digest"}, "the same");
  CHECK(std::as_const(facts).find("slices", std::string("digest")) == "the same");
}

TEST_CASE("What other machines know is asked where this one does not, and is known here from then on") {
  FakeFileSystem files;
  OtherMachines others;
  const FactBasis basis = {"text", {"/bin/g++"}};
  others.put("g++", basis, "12.2.0");
  FactStore facts(files, "/f");
  facts.share_with(others);
  CHECK(facts.find("g++", basis) == "12.2.0");
  CHECK(facts.find("g++", basis) == "12.2.0");
  CHECK(others.asked == 1);
  facts.save();
  CHECK(FactStore(files, "/f").find("g++", basis) == "12.2.0");
}

TEST_CASE("A fact of this machine is neither looked for elsewhere nor told there") {
  FakeFileSystem files;
  OtherMachines others;
  FactStore facts(files, "/f");
  facts.share_with(others);
  const FactBasis here = {"text", {}, true};
  facts.put("wrapper", here, "12.2.0");
  facts.put("GPUs", "boot", "9.0");
  CHECK(others.values.empty());
  CHECK_FALSE(facts.find("another", here));
  CHECK_FALSE(facts.find("another", "boot"));
  CHECK(others.asked == 0);
  facts.put("g++", FactBasis{"text"}, "12.2.0");
  CHECK(others.values.size() == 1);
}

TEST_CASE("A value that names files holds while they are the same, too") {
  FakeFileSystem files;
  files.add_file("/lib/libc.so", "libc");
  OtherMachines others;
  FactStore facts(files, "/f");
  facts.share_with(others);
  facts.put("libraries", FactBasis{"cc1plus"}, named_by, "/lib/libc.so");
  CHECK(others.values.size() == 2);
  others.values.clear();
  CHECK(facts.find("libraries", {"cc1plus"}, named_by) == "/lib/libc.so");
  files.touch("/lib/libc.so");
  CHECK_FALSE(facts.find("libraries", {"cc1plus"}, named_by));
}
