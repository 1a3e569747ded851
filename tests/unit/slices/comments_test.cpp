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
  using namespace std::string_literals;
  for (const std::string& text :
       {"#error don't // a\n"s, "a; // b \\\nc;\n"s, "a; // b \\ \nc;\n"s,
        "a; // b ?"
        "?/\nc;\n"s,
        "/\\\n/ a\nb; // c\n"s, "/* a *\\\n/ b; // c\n"s, "#define A x \\ // a\nb;\n"s, "s = R\"(a // b\n"s,
        "a; /* b\n"s, "u8\\\nR\"(a)\" // b\n"s, "R\\\n\\\n\"(a\" // b)\"\n"s,
        "\xc3\xa9\\\nR\"(a // b\n)\";\n"s, "a; // b\rc;\n"s, "a; // \0b\n"s, "a = __TIMESTAMP__; // b\n"s})
    CHECK(without_comments(text) == text);
}

TEST_CASE("comments: names of headers and directives that know no comments") {
  for (const char* text :
       {"#include <a//b.h>\n", "# import <a//b.h>\n", "#include \\\n<a//b.h>\n",
        "#if __has_include( <a/*b.h>)\n", "#include /* <a> */ <b//c.h>\n", "#line 5 \"x\" /* a\n */\nb;\n",
        "#line 5 \\\n \"x\" /* a\n */\nb;\n", "%: warning see /* a\n */\nb;\n"})
    CHECK(without_comments(text) == text);
  CHECK(without_comments("#include <a.h>  // for vector<int>\nb;") == "#include <a.h>\nb;");
  CHECK(without_comments("#define A /* one */\nb;") == "#define A\nb;");
  CHECK(without_comments("a; /* b\n c */\n") == "a;");
}

TEST_CASE("comments: what is behind numbers") {
  CHECK(without_comments("0xE+'a' // b'\n") == "0xE+'a' // b'");
  CHECK(without_comments("a = 1e+5; // b\n") == "a = 1e+5;");
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
  for (const char* word : {"-Werror", "-Werror=comment", "-pedantic-errors", "--comments", "-specs=x"})
    CHECK(keep({word, "-E", "a.cu"}));
  CHECK(keep({"-g", "-c", "a.cpp"}));
  CHECK(keep({"-gencode=arch=compute_80,code=sm_80", "-c", "a.cu"}));
}

TEST_CASE("comments: files that are read as data") {
  CHECK(embeds_files("#embed \"a.h\"\n"));
  CHECK(embeds_files("  # embed \"a.h\"\n"));
  CHECK(embeds_files("%:embed \"a.h\"\n"));
  CHECK(embeds_files("# /* data */ embed \"a.h\"\n"));
  CHECK_FALSE(embeds_files("embedding(a); embed_dim(to_embed);\n"));
}
