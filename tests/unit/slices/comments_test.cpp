#include "slices/comments.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("comments: what ends a line goes, and every line stays where it is") {
  CHECK(without_comments("a; // b\nc;\n") == "a;\nc;");
  CHECK(without_comments("a; /* b */\t\nc;") == "a;\nc;");
  CHECK(without_comments("a; /* b\n d */ \nc;") == "a;\n\nc;");
  CHECK(without_comments("a; /* b */ // d\nc;") == "a; /* b */\nc;");
  CHECK(without_comments("// a\n\n/* b */\nc;\n\n// the end\n") == "\n\n\nc;");
  CHECK(without_comments("a;\r\nb; // c\r\nd;\r\n") == "a;\r\nb;\nd;");
}

TEST_CASE("comments: those before code stay, for they move it") {
  for (const char* text : {"/* a */ b;", "a /* b */ + c;", "/* a\n */ b;"})
    CHECK(without_comments(text) == text);
}

TEST_CASE("comments: what looks like one in quotes is code") {
  for (const char* text :
       {"s = \"// a\";", "s = \"\\\" // a\";", "c = '\"'; d = '\"';", "s = R\"x(\n// a )\" /* )x\";",
        "n = 1'000 + '/' + '*';", "s = u8R\"(/*)\";", "#include <a.h>"})
    CHECK(without_comments(text) == text);
  CHECK(without_comments("n = 1'0; // it's\n") == "n = 1'0;");
  CHECK(without_comments("s = xR\"(\"; // )\"\n") == "s = xR\"(\";");
}

TEST_CASE("comments: where it is not clear what is one, all stay") {
  for (const char* text : {"#error don't // a\n", "a; // b \\\nc;\n", "a; // b \\ \nc;\n",
                           "a; // b ?"
                           "?/\nc;\n",
                           "/\\\n/ a\nb; // c\n", "/* a *\\\n/ b; // c\n", "#define A x \\ // a\nb;\n",
                           "#include <a//b.h>\n", "s = R\"(a // b\n", "a; /* b\n", "u8\\\nR\"(a)\" // b\n"})
    CHECK(without_comments(text) == text);
}

TEST_CASE("comments: commands to which they may matter") {
  const auto keep = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"g++", "-O3", "-fPIC", "-I", "pack"});
    return keeps_comments(more);
  };
  CHECK_FALSE(keep({"-E", "-g", "a.cu"}));
  CHECK_FALSE(keep({"-c", "a.cpp"}));
  for (const char* word : {"-C", "-CC", "-Wp,-C", "-fdirectives-only", "@words"}) {
    CHECK(keep({"-E", word, "a.cu"}));
    CHECK(keep({word, "-c", "a.cpp"}));
  }
  CHECK(keep({"-g", "-c", "a.cpp"}));
  CHECK(keep({"-gencode=arch=compute_80,code=sm_80", "-c", "a.cu"}));
}

TEST_CASE("comments: files that are read as data") {
  CHECK(embeds_files("#embed \"a.h\"\n"));
  CHECK(embeds_files("  # embed \"a.h\"\n"));
  CHECK(embeds_files("%:embed \"a.h\"\n"));
  CHECK_FALSE(embeds_files("embedding(a); // embed it\n"));
}
