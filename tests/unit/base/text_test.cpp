#include "base/text.h"
#include "base/args.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("split drops empty pieces, whatever separates them") {
  CHECK(split("a;b", ";") == Args{"a", "b"});
  CHECK(split(";; a,b ;", "; ,") == Args{"a", "b"});
  CHECK(split("", ";").empty());
  CHECK(split(" ;", " ;").empty());
}

TEST_CASE("split_lines keeps empty lines and takes a last line without its newline") {
  CHECK(split_lines("a\n\nb") == Args{"a", "", "b"});
  CHECK(split_lines("a\n") == Args{"a"});
  CHECK(split_lines("\n") == Args{""});
  CHECK(split_lines("").empty());
}

TEST_CASE("join puts the separator between the parts only") {
  CHECK(join({"a", "b", ""}, ", ") == "a, b, ");
  CHECK(join({}, ", ").empty());
}

TEST_CASE("trim takes blanks off both ends") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" \n").empty());
}

TEST_CASE("Letters change case as ASCII, other bytes stay") {
  CHECK(to_lower("DS_Build-\xc3\x89") == "ds_build-\xc3\x89");
  CHECK(to_upper("fused_adam2") == "FUSED_ADAM2");
}

TEST_CASE("replace_all does not look into what it put there") {
  CHECK(replace_all("a'b'", "'", "''") == "a''b''");
  CHECK(replace_all("abc", "", "x") == "abc");
}

TEST_CASE("plural counts one thing without s") {
  CHECK(plural(1, "op") == "1 op");
  CHECK(plural(0, "op") == "0 ops");
  CHECK(plural(2, "op") == "2 ops");
}

TEST_CASE("human_size has one digit after the point and never says 1024.0") {
  CHECK(human_size(512) == "512 B");
  CHECK(human_size(1023) == "1023 B");
  CHECK(human_size(1024) == "1.0 KiB");
  CHECK(human_size(1229) == "1.2 KiB");
  CHECK(human_size(1048575) == "1.0 MiB");
  CHECK(human_size(3565158) == "3.4 MiB");
  CHECK(human_size(~0ULL) == "16.0 EiB");
}

TEST_CASE("nearest finds a likely misspelling and nothing farther off") {
  const Args ops{"fused_adam", "fp_quantizer", "cpu_adam"};
  CHECK(nearest("fused_adm", ops) == "fused_adam");
  CHECK(nearest("FUSED_ADAM", ops) == "fused_adam");
  CHECK(nearest("fp_quantiser", ops) == "fp_quantizer");
  CHECK(nearest("gpu_adam", ops) == "cpu_adam");
  CHECK(nearest("ufsed_adma", ops) == "fused_adam");  // swapped letters are one mistake each
  CHECK(nearest("transformer_inference", ops).empty());
  CHECK(nearest("", ops).empty());
}

TEST_CASE("nearest never calls a wholly different word near, however short") {
  CHECK(nearest("a", {"b"}).empty());
  CHECK(nearest("x", {"xy"}) == "xy");
}

TEST_CASE("nearest gives ties to the first candidate") {
  CHECK(nearest("sm_95", {"sm_90", "sm_75"}) == "sm_90");
  CHECK(nearest("sm_95", {"sm_75", "sm_90"}) == "sm_75");
}

TEST_CASE("did_you_mean is a remark, or nothing") {
  CHECK(did_you_mean("cuad", {"cuda", "cpu"}) == " (did you mean 'cuda'?)");
  CHECK(did_you_mean("cudaa", {"cuda", "cpu"}) == " (did you mean 'cuda'?)");
  CHECK(did_you_mean("zzz", {"cuda"}) == "");
}
