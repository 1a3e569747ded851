// A small source tree for the tests of the spec reader.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "registry/registry.h"

namespace dsbuild {

// "code where: what | fix"; the fix that every message about a spec falls back on is left out.
inline std::string error_text(const Error& error) {
  const bool own_fix =
      !error.fix.empty() && error.fix != "docs/reference/op_yaml.md has the rules of each key.";
  return error.code + " " + error.where + ": " + error.what + (own_fix ? " | " + error.fix : "");
}

// Nothing of a registry starts a process.
inline Result<Registry> load_registry_of(const Settings& settings, FileSystem& files,
                                         const Environment& environment = {}) {
  FakeProcessRunner processes;
  return load_registry(settings, System{files, processes, environment});
}

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
    return error_text(error);
  }
  // "line:column" of each mistake.
  std::vector<std::string> errors(const std::string& text) const {
    const auto parsed = parse(text);
    if (parsed) return {};
    std::vector<std::string> places = {parsed.error().where};
    for (const Message& other : parsed.error().others)
      places.push_back(other.where);
    for (std::string& place : places)
      place = place.substr(place.find(':') + 1);
    return places;
  }
};

}  // namespace dsbuild
