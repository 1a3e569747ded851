#include "inputs/looked_for.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

using Names = std::set<std::string>;

TEST_CASE("Names are those of directives, however they are spelled") {
  CHECK(names_looked_for("#include <a.h>\n  #  include \"b.h\"\n#include_next <c.h>\n#import \"d.h\"\n")
            .names == Names{"a.h", "b.h", "c.h", "d.h"});
  CHECK(names_looked_for("#include /* why */ \"a.h\"\n%:include <b.h>\n#\\\ninclude \\\n <c.h>\n").names ==
        Names{"a.h", "b.h", "c.h"});
  CHECK(names_looked_for("int include = 3;\nint my_include;\nf(include \"x.h\");\n").names.empty());
}

TEST_CASE("What __has_include asks for counts, whoever hands it the name") {
  const LookedFor plain =
      names_looked_for("#if __has_include(\".local.h\") || __has_include_next( <b.h> )\n#endif\n");
  CHECK(plain.names == Names{".local.h", "b.h"});
  CHECK(plain.asks);
  CHECK_FALSE(plain.is_computed);
  const LookedFor by_macro = names_looked_for("#define HAS(X) __has_include(X)\n#if HAS(<cuda.h>)\n#endif\n");
  CHECK(by_macro.names.count("cuda.h") == 1);
  CHECK(by_macro.is_computed);
}

TEST_CASE("A macro in a directive is a computed name") {
  CHECK(names_looked_for("#include CONFIG\n").is_computed);
  CHECK_FALSE(names_looked_for("#include \"config.h\"\n").is_computed);
}

TEST_CASE("A search is read as it was written") {
  const NameSearch search{{"pack/a b", "/usr/include"}, {"x.h", "sub/y.h"}, true};
  CHECK(parse_search(render_search(search)) == search);
}

TEST_CASE("Folders are found in either spelling") {
  CHECK(search_folders({"g++", "-Ia", "-I", "b", "-isystem", "/c", "-iquote", "d", "-L/e", "-c"}) ==
        std::vector<std::string>{"a", "b", "/c", "d", "/e"});
  CHECK(library_names({"-lcurand", "-l:libx.so.1", "-lm", "-Wl,-x"}) ==
        Names{"libcurand.so", "libcurand.a", "libx.so.1", "libm.so", "libm.a"});
}

namespace {

struct World {
  FakeFileSystem files;
  std::string present(const NameSearch& search) { return FolderNames("/build", files).present(search); }
};

}  // namespace

TEST_CASE("Only names that are looked for are present") {
  World world;
  world.files.add_file("/build/pack/inc/a.h", "");
  world.files.add_file("/build/pack/inc/other.h", "");
  world.files.add_file("/usr/include/sub/b.h", "");
  const NameSearch search{{"pack/inc", "/usr/include", "/absent"}, {"a.h", "sub/b.h", "c.h"}, false};
  CHECK(world.present(search) == "pack/inc\ta.h\n/usr/include\tsub/b.h\n");
  world.files.add_file("/build/pack/inc/sub/b.h", "");
  CHECK(world.present(search) == "pack/inc\ta.h\npack/inc\tsub/b.h\n/usr/include\tsub/b.h\n");
}

TEST_CASE("A folder of that name is no file, and links are followed") {
  World world;
  world.files.add_directory("/build/pack/v.h");
  CHECK(world.present({{"pack"}, {"v.h"}, false}).empty());
  world.files.add_file("/elsewhere/w.h", "");
  world.files.add_link("/build/pack/w.h", "/elsewhere/w.h");
  CHECK(world.present({{"pack"}, {"w.h"}, false}) == "pack\tw.h\n");
  world.files.add_link("/build/pack/gone.h", "/elsewhere/nothing.h");
  CHECK(world.present({{"pack"}, {"gone.h"}, false}).empty());
}

TEST_CASE("Names that lead upward, or are absolute, are looked for as they are") {
  World world;
  world.files.add_directory("/build/pack/a");
  world.files.add_file("/build/pack/common/x.h", "");
  world.files.add_file("/abs/y.h", "");
  CHECK(world.present({{"pack/a"}, {"../common/x.h", "/abs/y.h"}, false}) ==
        "pack/a\t../common/x.h\npack/a\t/abs/y.h\n");
}

TEST_CASE("Where a name is computed, all of the project's count, but not those in build folders") {
  World world;
  world.files.add_file("/build/pack/a/any.h", "");
  world.files.add_file("/build/pack/a/sub/more.h", "");
  world.files.add_file("/build/pack/a/b/dsbuild-build-folder", "");
  world.files.add_file("/build/pack/a/b/x.h", "");
  CHECK(world.present({{"pack/a"}, {}, true}) == "pack/a\tany.h\npack/a\tsub/more.h\n");
}
