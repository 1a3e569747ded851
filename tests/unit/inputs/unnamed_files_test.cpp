#include "inputs/unnamed_files.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("unnamed files: the assembler's directives, in one piece and in several") {
  for (const char* source :
       {"asm(\".incbin \\\"a.bin\\\"\");", "asm(\".include \\\"a.s\\\"\");", "asm(\".INCLUDE \\\"a.s\\\"\");",
        "asm(\".inc\" \"lude \\\"a.s\\\"\");", "asm(\".\"\n    \"include \\\"a.s\\\"\");",
        "asm(\".inc\" \"\" \"bin \\\"a.bin\\\"\");", "asm(\".incl\\\nude \\\"a.s\\\"\");",
        "asm(\".incl\\ \r\nude \\\"a.s\\\"\");", "asm(R\"(\n.include \"a.s\"\n)\");",
        "#define READ(file) asm(\".include \" #file)"})
    CHECK(may_read_in_assembler(source));
}

TEST_CASE("unnamed files: files taken as data") {
  for (const char* source :
       {"#embed \"a.h\"\n", "  # embed \"a.h\"\n", "%:embed \"a.h\"\n", "# /* data */ embed \"a.h\"\n",
        "#em\\\nbed \"a.h\"\n", "#if __has_embed(\"a.h\")\n"})
    CHECK(may_embed_files(source));
}

TEST_CASE("unnamed files: code that has none of them") {
  for (const char* source :
       {"", "\"", "\\", "\"\"", "#include \"a.h\"\nasm volatile(\"cp.async.wait_all;\");",
        "#include <a.h>  // it includes more\n", "float* embed = a; embedding(embed); embed_dim(to_embed);\n",
        "print(\"done.\", \"include\");"})
    CHECK_FALSE((may_read_in_assembler(source) || may_embed_files(source)));
}
