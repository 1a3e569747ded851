// Which edges a build would run and why, as Ninja itself says it (`ninja -n -d explain`). Nothing is built.
#pragma once

#include <map>
#include <set>
#include <string>

#include "ninja/ninja_run.h"

namespace dsbuild {

// An edge's output -> why it would run: "output lib/adam.so doesn't exist". The other edges are up to date.
using PendingEdges = std::map<std::string, std::string>;

// Pure. `out`: Ninja's status lines; `explanations`: its "ninja explain: …" lines. An edge that runs only
// because one of its inputs is made anew says so.
PendingEdges parse_dry_run(const BuildPlan& plan, std::string_view out, std::string_view explanations);

// Pure. Adds the edges that run because planned files are not what is on disk (`rewritten`, relative to the
// build folder), which Ninja cannot see before they are written; and those that use what these make.
PendingEdges with_rewritten_files(const BuildPlan& plan, const PendingEdges& pending,
                                  const std::set<std::string>& rewritten);

// `ninja_file`: the plan's text, relative to the build folder; every input that no edge makes must be there.
// Error: exit 1 `ninja_failed` with Ninja's words.
Result<PendingEdges> dry_run(const Ninja& ninja, const BuildPlan& plan, const Path& build_dir,
                             const Path& ninja_file, System& system);

}  // namespace dsbuild
