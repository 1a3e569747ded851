// BUNDLE/provenance.intoto.json: who built a bundle, of what and how (docs/reference/provenance.md). An
// in-toto Statement v1 whose predicate is SLSA's provenance v1. Keys are sorted. The same sources give the
// same bytes but for runDetails: no other part has a time, a host or a folder of a machine.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bundle/manifest.h"
#include "sys/file_system.h"

namespace dsbuild {

inline constexpr const char *k_statement_type = "https://in-toto.io/Statement/v1",
                            *k_predicate_type = "https://slsa.dev/provenance/v1",
                            *k_build_type = "urn:dsbuild:build:v1";

// A file of the bundle.
struct Subject {
  std::string name, sha256;
  bool operator==(const Subject&) const = default;
};

// Kinds of what something was made of. A part is a file of a toolkit or a compiler; an object is one
// that a compiler links by itself (crtbeginS.o).
inline constexpr const char *k_of_pack = "pack", *k_of_source = "source", *k_of_header = "header",
                            *k_of_static_library = "static library", *k_of_shared_library = "shared library",
                            *k_of_object = "object", *k_of_toolkit = "toolkit",
                            *k_of_toolkit_part = "toolkit part", *k_of_compiler = "compiler",
                            *k_of_compiler_part = "compiler part", *k_of_package = "python package";

struct Dependency {
  std::string kind;
  std::string name;    // of a file as actions name it: "pack/rms_norm.cu", "roots/cuda/bin/cicc"
  std::string sha256;  // of a file
  std::string commit;  // of a pack: git's
  std::string uri;     // of what is no file: "pkg:pypi/torch@2.11.0", "git+https://…@<commit>"
  std::string version;
  std::vector<std::string> modified;  // of a pack: its files that were read, and are not the commit's
  std::set<std::string> used_by;      // subjects
  bool operator==(const Dependency&) const = default;
};

// The request: what a build from scratch must be given to make the same bytes.
struct RequestedBuild {
  std::string pack;
  std::vector<std::string> ops, archs;         // archs as manifests spell them
  std::map<std::string, std::string> options;  // settings that decide bytes and were given
  std::string source_date_epoch;               // "" where it was not set
  // By op, of those that a workload asked for, for archs of their own.
  std::map<std::string, ArchSet> workload;
  bool operator==(const RequestedBuild&) const = default;
};

// Who made it, and when.
struct BuildRun {
  std::string builder, dsbuild;  // a URI; the version
  std::string invocation;
  std::string started, finished;  // "2026-11-25T10:47:02Z"
  bool operator==(const BuildRun&) const = default;
};

struct Statement {
  std::vector<Subject> subjects;  // sorted by name
  RequestedBuild request;
  std::map<std::string, std::string> variables;  // what compilers got of the environment -> its SHA-256
  std::map<std::string, std::string> actions;    // library -> the key of its link, as records have it
  bool reproducible = true;                      // no time of the build is in it, and all inputs are known
  std::vector<Dependency> dependencies;          // sorted by kind and name
  BuildRun run;
  bool operator==(const Statement&) const = default;
};

std::string render_statement(const Statement& statement);
// Error: exit 1 `bad_statement`.
Result<Statement> parse_statement(std::string_view json, const std::string& file);

// `published`, the text of an earlier statement, where it says the same but for the run's name and times, and
// is of the same builder; else the statement's own.
std::string render_unless_published(Statement statement, std::string_view published);

// Of the bundle's files but those of its provenance; `manifest_text`: its bytes.
std::vector<Subject> subjects_of(const Manifest& manifest, std::string_view manifest_text);

// The bytes of the bundle's statement; error `no_statement`, exit 1, where it has none.
Result<std::string> read_statement_file(const Path& bundle, const FileReader& files);
Result<Statement> load_statement(const Path& bundle, const FileReader& files);

// The statement of a bundle that is as its manifest says (verify_bundle): it says the same of the libraries
// as the manifest, so none of them is hashed again. Errors, exit 1: `no_statement`, `bad_statement`,
// `statement_differs`.
Result<Statement> load_checked_statement(const Path& bundle, const Manifest& manifest,
                                         const FileReader& files);
// The same, but nothing where there is none: older bundles have none.
Result<void> check_statement(const Path& bundle, const Manifest& manifest, const FileReader& files);

}  // namespace dsbuild
