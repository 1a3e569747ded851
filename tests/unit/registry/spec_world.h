// A small source tree for the tests of the spec reader.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "fakes/fake_file_system.h"
#include "registry/registry.h"

namespace dsbuild {

struct SpecWorld {
  FakeFileSystem files;

  SpecWorld() {
    for (const char* path : {"a.cu", "b.cpp", "bwd/one.cu", "bwd/two.cu", "bwd/note.txt", "bwd/.hidden.cu"}) {
      files.add_file(Path("/src") / path, "");
    }
    files.add_directory("/src/include");
  }
  Result<OpSpec> parse(const std::string& text) const {
    return parse_op_spec(text, "x/op.yaml", files, "/src");
  }
  OpSpec spec(const std::string& text) const {
    const auto parsed = parse(text);
    if (!parsed) FAIL(parsed.error().where << ": " << parsed.error().what);
    return *parsed;
  }
  // "code where: what | fix" of the error.
  std::string error(const std::string& text) const {
    const auto parsed = parse(text);
    if (parsed) return "no error";
    CHECK(parsed.error().exit == Exit::usage);
    const Error& error = parsed.error();
    return error.code + " " + error.where + ": " + error.what + (error.fix.empty() ? "" : " | " + error.fix);
  }
};

}  // namespace dsbuild
