#include "inputs/include_search.h"

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

TEST_CASE("A folder of that name is not a file, and links are followed") {
  World world;
  world.files.add_directory("/build/pack/v.h");
  CHECK(world.present({{"pack"}, {"v.h"}, false}).empty());
  world.files.add_file("/elsewhere/w.h", "");
  world.files.add_link("/build/pack/w.h", "/elsewhere/w.h");
  CHECK(world.present({{"pack"}, {"w.h"}, false}) == "pack\tw.h\n");
  world.files.add_link("/build/pack/gone.h", "/elsewhere/nothing.h");
  CHECK(world.present({{"pack"}, {"gone.h"}, false}).empty());
}

TEST_CASE("What cannot be opened as a file has a mark, and a folder that cannot be listed hides no name") {
  World world;
  world.files.add_file("/build/pack/a/v.h", "");
  world.files.add_file("/build/pack/b/sub/v.h", "");
  const NameSearch search{{"pack/a", "pack/b"}, {"v.h", "sub/v.h"}, false};
  world.files.set_opening("/build/pack/a/v.h", Opening::other);
  CHECK(world.present(search) == "! pack/a\tv.h\npack/b\tsub/v.h\n");
  world.files.set_opening("/build/pack/a/v.h", Opening::unreadable);
  CHECK(world.present(search) == "? pack/a\tv.h\npack/b\tsub/v.h\n");
  // No such names in a listing: the folder itself cannot be read, nor passed through.
  for (const char* path : {"/build/pack/c", "/build/pack/c/v.h", "/build/pack/c/sub/v.h"})
    world.files.set_opening(path, Opening::unreadable);
  CHECK(world.present({{"pack/c"}, {"v.h"}, false}) == "? pack/c\tv.h\n");
  // Passed through, but not listed.
  world.files.set_opening("/build/pack/c/v.h", Opening::absent);
  world.files.set_opening("/build/pack/c/v.h.gch", Opening::file);
  CHECK(world.present({{"pack/c"}, {"v.h"}, false}) == "pack/c\tv.h.gch\n");
}

TEST_CASE(
    "What is precompiled of a name is there too, a file or those in a folder, with or without the header") {
  World world;
  world.files.add_file("/build/pack/a/v.h.gch", "");
  world.files.add_file("/build/pack/a/other.h.gch", "");
  world.files.add_file("/build/pack/b/sub/v.h.gch/O2", "");
  world.files.add_file("/build/pack/b/sub/v.h.pch", "");
  world.files.add_directory("/build/pack/b/v.h.gch");
  const NameSearch search{{"pack/a", "pack/b"}, {"v.h", "sub/v.h", "../a/v.h"}, false};
  const std::string of_folder = "pack/b\tsub/v.h.gch/O2\npack/b\tsub/v.h.pch\n";
  const std::string through_dots = "pack/a\t../a/v.h.gch\n";
  CHECK(world.present(search) == "pack/a\tv.h.gch\n" + through_dots + of_folder + "pack/b\t../a/v.h.gch\n");
  CHECK(world.present({{"pack/a"}, {}, true}) == "pack/a\tother.h.gch\npack/a\tv.h.gch\n");
  // In a system's folder any may be taken, where a macro gives a name.
  world.files.add_file("/usr/include/vector.gch", "");
  CHECK(world.present({{"/usr/include"}, {}, true}) == "/usr/include\tvector.gch\n");
  CHECK(world.present({{"/usr/include"}, {}, false}).empty());
}

TEST_CASE("Several precompiled headers in a folder count with its identity, for gcc takes the first") {
  World world;
  world.files.add_file("/build/pack/v.h.gch/a", "");
  world.files.add_file("/build/pack/v.h.gch/b", "");
  const std::string identity = world.files.identity("/build/pack/v.h.gch")->text();
  const std::string text = world.present({{"pack"}, {"v.h"}, false});
  CHECK(text == "pack\tv.h.gch/a\npack\tv.h.gch/b\n# " + identity + " pack\tv.h.gch\n");
  const PresentName order = parse_present("# " + identity + " pack\tv.h.gch");
  CHECK(order.folder == "pack");
  CHECK(order.text() == "v.h.gch (the order in it)");
}

TEST_CASE("A line of what is there is taken apart, also where a name has a tab") {
  CHECK(parse_present("pack/a\tx\ty.h").path() == "pack/a/x\ty.h");
  CHECK(parse_present("? pack/a\tx.h").path() == "pack/a/x.h");
  CHECK(parse_present("? pack/a\tx.h").text() == "x.h (unreadable)");
  CHECK(parse_present("! /a b\tx.h").folder == "/a b");
}

TEST_CASE("Precompiled headers are known by their names, and forced ones by the command") {
  CHECK(is_precompiled_header("pack/v.h.gch"));
  CHECK(is_precompiled_header("pack/v.h.gch/any"));
  CHECK(is_precompiled_header("pack/v.h.pch"));
  CHECK_FALSE(is_precompiled_header("pack/v.h"));
  CHECK_FALSE(is_precompiled_header("pack/x.gch/y/v.h"));
  CHECK(forced_headers({"g++", "-include", "a.h", "-includeb.h", "-include=c.h", "-imacros", "d.h", "-c"}) ==
        std::vector<std::string>{"a.h", "b.h", "c.h", "d.h"});
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
