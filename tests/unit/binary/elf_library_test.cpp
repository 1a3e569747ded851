// What a loader asks of libraries, of files that this machine's compiler and linkers make. Golden: what
// readelf says of them.
#include "binary/elf_library.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/text.h"
#include "nvcc_sample.h"
#include "support/sample_bytes.h"
#include "unit/base/counted_bytes.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

constexpr const char* k_source_of_symbols = R"(
#include <cmath>
#include <cstdlib>
#include <string>
extern "C" int nobody_has_this(int);
extern int nobodys_data;
extern "C" int maybe_there(int) __attribute__((weak));
int defined(const std::string& text) {
  return nobody_has_this(nobodys_data) + (maybe_there ? maybe_there(1) : 0) + std::atoi(text.c_str());
}
struct Open { Open(); virtual ~Open(); };
void use() { Open open; }
int data = 3;
thread_local int of_thread = 4;
__attribute__((weak)) int weak_one(int x) { return x; }
__attribute__((visibility("hidden"))) int hidden(int x) { return x; }
static int local(int x) { return x; }
int (*pointer)(int) = local;
)";

// A folder in which libraries are made of one source.
struct Linked {
  TempFolder temp;
  std::string bytes;

  explicit Linked(const std::string& options, const std::string& source = k_source_of_symbols) {
    temp.add("a.cpp", source);
    const std::string command =
        "cd '" + temp.path().string() + "' && c++ -shared -fPIC -O1 a.cpp -o a.so " + options;
    INFO(command);
    REQUIRE(std::system((command + " 2> errors").c_str()) == 0);
    bytes = bytes_of(file());
  }
  Path file() const { return temp.path() / "a.so"; }
};

ElfLibrary library_of(const ByteSource& source) {
  auto library = ElfLibrary::read(source, "a.so");
  REQUIRE(library);
  return *library;
}

// A row of readelf --dyn-syms: "  7: 0000000000001139    15 FUNC    GLOBAL DEFAULT   12 name@@VERSION (2)".
struct ReadelfSymbol {
  std::string binding, section, name;
  bool has_version = false;
};

std::vector<ReadelfSymbol> said_by_readelf(const Path& file) {
  const TempFolder temp;
  std::vector<ReadelfSymbol> symbols;
  for (const std::string& line :
       split_lines(output_of("readelf -W --dyn-syms '" + file.string() + "'", temp))) {
    const std::vector<std::string> words = split(line, " ");
    if (words.size() < 8 || !words[0].ends_with(":") || words[0] == "Num:") continue;
    const std::string name = words[7].substr(0, words[7].find('@'));
    symbols.push_back({words[4], words[6], name, name != words[7]});
  }
  return symbols;
}

// e_machine of the header.
uint16_t load_machine(const std::string& bytes) {
  return static_cast<uint16_t>(static_cast<unsigned char>(bytes[18]) | static_cast<unsigned char>(bytes[19])
                                                                           << 8);
}

Path libstdcxx() {
  const TempFolder temp;
  return trim(output_of("c++ -print-file-name=libstdc++.so.6", temp));
}

// Linkers that c++ knows here.
std::vector<std::string> linkers() {
  std::vector<std::string> found;
  const TempFolder temp;
  for (const char* name : {"bfd", "gold", "lld"})
    if (!output_of("command -v ld." + std::string(name), temp).empty()) found.emplace_back(name);
  return found;
}

}  // namespace

TEST_CASE(
    "symbols that a library leaves to others are those of readelf, with their versions, by all linkers") {
  REQUIRE_FALSE(linkers().empty());
  for (const std::string& linker : linkers()) {
    INFO(linker);
    const Linked linked("-fuse-ld=" + linker);
    std::map<std::string, bool> golden;
    for (const ReadelfSymbol& symbol : said_by_readelf(linked.file()))
      if (symbol.binding == "GLOBAL" && symbol.section == "UND") golden[symbol.name] = symbol.has_version;
    // Nothing but the C++ library has a version.
    REQUIRE(golden.contains("nobody_has_this"));
    REQUIRE_FALSE(golden["nobody_has_this"]);
    REQUIRE_FALSE(golden["_ZN4OpenC1Ev"]);
    REQUIRE_FALSE(golden["nobodys_data"]);
    REQUIRE(std::ranges::count(golden, true, &std::pair<const std::string, bool>::second) > 0);

    std::map<std::string, bool> found;
    const MemoryBytes bytes(as_bytes_of(linked.bytes));
    const auto symbols = library_of(bytes).undefined_symbols();
    REQUIRE(symbols);
    for (const UndefinedSymbol& symbol : *symbols)
      found[symbol.name] = symbol.has_version;
    CHECK(found == golden);
  }
}

TEST_CASE("a library defines what readelf says that it defines, and nothing else, by all linkers") {
  for (const std::string& linker : linkers()) {
    INFO(linker);
    const Linked linked("-fuse-ld=" + linker + " -Wl,--hash-style=gnu");
    const MemoryBytes bytes(as_bytes_of(linked.bytes));
    const ElfLibrary library = library_of(bytes);
    for (const ReadelfSymbol& symbol : said_by_readelf(linked.file())) {
      if (symbol.binding == "LOCAL") continue;
      INFO(symbol.name);
      CHECK(*library.defines(symbol.name) == (symbol.section != "UND"));
    }
    for (const char* name : {"_Z7definedRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "data",
                             "of_thread", "_Z8weak_onei"})
      CHECK(*library.defines(name) == true);
    for (const char* name :
         {"_Z6hiddeni", "_ZL5locali", "nobody_has_this", "maybe_there", "", "dat", "data2"})
      CHECK(*library.defines(name) == false);
  }
}

TEST_CASE("each of libstdc++'s thousands of symbols is found, and no name that is nearly one of them") {
  const std::string file = bytes_of(libstdcxx());
  const MemoryBytes bytes(as_bytes_of(file));
  const ElfLibrary library = library_of(bytes);
  std::set<std::string> names;
  for (const ReadelfSymbol& symbol : said_by_readelf(libstdcxx()))
    if (symbol.binding != "LOCAL" && symbol.section != "UND") names.insert(symbol.name);
  REQUIRE(names.size() > 3000);
  size_t wrong = 0;
  for (const std::string& name : names) {
    wrong += *library.defines(name) == true ? 0 : 1;
    for (const std::string& other : {name + "_", name.substr(1)})
      wrong += *library.defines(other) == names.contains(other) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("names of the same hash are told apart") {
  // 'A' * 33 + 'z' is 'B' * 33 + 'Y'.
  const Linked one("-Wl,--hash-style=gnu", "extern \"C\" int of_Az() { return 1; }");
  const MemoryBytes bytes_of_one(as_bytes_of(one.bytes));
  CHECK(*library_of(bytes_of_one).defines("of_Az") == true);
  CHECK(*library_of(bytes_of_one).defines("of_BY") == false);
  const Linked both("-Wl,--hash-style=gnu",
                    "extern \"C\" { int of_Az() { return 1; } int of_BY() { return 2; } }");
  const MemoryBytes bytes_of_both(as_bytes_of(both.bytes));
  CHECK(*library_of(bytes_of_both).defines("of_Az") == true);
  CHECK(*library_of(bytes_of_both).defines("of_BY") == true);
}

TEST_CASE("of a large library a few pages are read") {
  const std::string file = bytes_of(libstdcxx());
  const MemoryBytes all(as_bytes_of(file));
  const CountedBytes bytes(all);
  const ElfLibrary library = library_of(bytes);
  CHECK(*library.defines("_ZSt4cout") == true);
  CHECK(*library.defines("_ZSt4cour") == false);
  CHECK(bytes.count < 16 * 1024);
}

TEST_CASE("a library that has the older hash table alone is not asked") {
  const Linked linked("-Wl,--hash-style=sysv");
  const MemoryBytes bytes(as_bytes_of(linked.bytes));
  const auto answer = library_of(bytes).defines("data");
  REQUIRE(answer);
  CHECK(*answer == std::nullopt);
}

TEST_CASE("a library says its name, what it needs and where that is looked for") {
  for (const char* kind : {"--enable-new-dtags", "--disable-new-dtags"}) {
    INFO(kind);
    const Linked linked(
        "-Wl,-soname,libown.so.1 -Wl,--no-as-needed -lstdc++ '-Wl,-rpath,$ORIGIN/../lib:/opt/lib' -Wl," +
        std::string(kind));
    const MemoryBytes bytes(as_bytes_of(linked.bytes));
    const ElfLibrary library = library_of(bytes);
    CHECK(library.own_name() == "libown.so.1");
    CHECK(library.search_paths() == std::vector<std::string>{"$ORIGIN/../lib:/opt/lib"});
    std::vector<std::string> golden;
    for (const std::string& line :
         split_lines(output_of("readelf -dW '" + linked.file().string() + "'", linked.temp)))
      if (line.find("(NEEDED)") != std::string::npos)
        golden.push_back(line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1));
    REQUIRE(std::ranges::count(golden, "libstdc++.so.6") == 1);
    CHECK(library.needed() == golden);
    CHECK(library.machine() == load_machine(linked.bytes));
  }
}

TEST_CASE("a library without dynamic symbols has none, and what is none is refused") {
  const std::string none = elf({{".text", 1, "code"}});
  const MemoryBytes bytes(as_bytes_of(none));
  const ElfLibrary library = library_of(bytes);
  CHECK(library.undefined_symbols()->empty());
  CHECK(*library.defines("data") == std::nullopt);
  CHECK(library.needed().empty());
  const MemoryBytes script(as_bytes_of("/* GNU ld script */\nINPUT(liba.so)\n"));
  const auto refused = ElfLibrary::read(script, "liba.so");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "bad_elf");
}

TEST_CASE("a library cut off anywhere, or with any byte of its tables changed, is read or refused") {
  const Linked linked("-Wl,--hash-style=gnu -nostdlib -Wl,--strip-all",
                      "extern \"C\" int other(int); int first(int x) { return other(x); } int second = 2;");
  const auto ask = [](const std::string& damaged) {
    const MemoryBytes bytes(as_bytes_of(damaged));
    const auto library = ElfLibrary::read(bytes, "a.so");
    if (!library) return !library.error().what.empty();
    (void)library->undefined_symbols();
    (void)library->defines("_Z5firsti");
    (void)library->defines("other");
    return true;
  };
  for (size_t size = 0; size < linked.bytes.size(); size += 7)
    CHECK(ask(linked.bytes.substr(0, size)));
  const auto elf = read_elf(as_bytes_of(linked.bytes), "a.so");
  REQUIRE(elf);
  for (const char* name : {".gnu.hash", ".dynsym", ".dynstr", ".dynamic"}) {
    const ElfSection* section = elf->find(name);
    REQUIRE(section);
    for (uint64_t at = section->offset; at < section->offset + section->stored_size; ++at)
      for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
        std::string damaged = linked.bytes;
        damaged[at] = value;
        CHECK(ask(damaged));
      }
  }
}
