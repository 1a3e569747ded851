// Reads and writes BUNDLE/provenance.intoto.json: who built a bundle, from what and how
// (docs/reference/provenance.md). It is an in-toto Statement v1 with SLSA's provenance v1 as predicate. Keys
// are sorted. The same sources give the same bytes except in runDetails: no other part has a time, a host or
// a machine's folder.
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

// Kinds of dependencies. A part is a file of a toolkit or a compiler; an object is a file that a compiler
// adds to a link (crtbeginS.o).
inline constexpr const char *k_of_pack = "pack", *k_of_source = "source", *k_of_header = "header",
                            *k_of_static_library = "static library", *k_of_shared_library = "shared library",
                            *k_of_object = "object", *k_of_toolkit = "toolkit",
                            *k_of_toolkit_part = "toolkit part", *k_of_compiler = "compiler",
                            *k_of_compiler_part = "compiler part", *k_of_package = "python package";

struct Dependency {
  std::string kind;
  std::string name;    // a file's name in actions: "pack/rms_norm.cu", "roots/cuda/bin/cicc"
  std::string sha256;  // of a file
  std::string commit;  // of a pack: the git commit
  std::string uri;  // for dependencies that are not files: "pkg:pypi/torch@2.11.0", "git+https://…@<commit>"
  std::string version;
  std::vector<std::string> modified;  // of a pack: files that were read and differ from the commit
  std::set<std::string> used_by;      // subjects
  bool operator==(const Dependency&) const = default;
};

// The request: the options and variables with which a build from scratch makes the same bytes.
struct RequestedBuild {
  std::string pack;
  std::vector<std::string> ops, archs;         // archs in the manifest's spelling
  std::map<std::string, std::string> options;  // settings that were given and affect the bytes
  std::string source_date_epoch;               // "": not set
  // The archs of ops for which a workload requests archs of their own.
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
  std::map<std::string, std::string> variables;  // variables that compilers got -> SHA-256 of the value
  std::map<std::string, std::string> actions;    // library -> the key of its link in the records
  bool reproducible = true;              // no output has the time of the build, and all inputs are known
  std::vector<Dependency> dependencies;  // sorted by kind and name
  BuildRun run;
  bool operator==(const Statement&) const = default;
};

std::string render_statement(const Statement& statement);
// Error: exit 1 `bad_statement`.
Result<Statement> parse_statement(std::string_view json, const std::string& file);

// Returns `published`, the text of an earlier statement, if it differs only in the run's invocation and
// times. Else renders `statement`.
std::string render_unless_published(Statement statement, std::string_view published);

// The bundle's files without those of its provenance. `manifest_text`: the bytes of the manifest.
std::vector<Subject> subjects_of(const Manifest& manifest, std::string_view manifest_text);

// The bytes of the bundle's statement. Error: exit 1 `no_statement` if it has none.
Result<std::string> read_statement_file(const Path& bundle, const FileReader& files);
Result<Statement> load_statement(const Path& bundle, const FileReader& files);

// The statement of a bundle that the caller has verified against its manifest (verify_bundle). Compares the
// statement's digests with the manifest's, so no library is hashed again. Errors, exit 1: `no_statement`,
// `bad_statement`, `statement_differs`.
Result<Statement> load_checked_statement(const Path& bundle, const Manifest& manifest,
                                         const FileReader& files);
// The same check, but a bundle without a statement is no error: older bundles have none.
Result<void> check_statement(const Path& bundle, const Manifest& manifest, const FileReader& files);

}  // namespace dsbuild
