// What the edges of an op were built of, as a text that machines share, so that `explain` can say what
// differs where nobody has built the same: keys of actions are digests, of which none is nearer than others.
// A hint, under a name that holds the pack and the op alone; the shared cache has the newest ones.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "driver/plan.h"
#include "driver/session.h"

namespace dsbuild {

struct KeySketch {
  std::map<std::string, Key> edges;          // by output; commands with the words of their step files
  std::map<std::string, std::string> lists;  // the texts of "tools" parts, by name
  bool operator==(const KeySketch&) const = default;
};
std::string render_sketch(const KeySketch& sketch);
// nullopt: damaged, or of another version.
std::optional<KeySketch> parse_sketch(std::string_view text);

// After a build of edges that nobody had built before: `misses`, by output. Where the shared cache is only
// read, nothing happens.
void share_sketches(const RemoteMisses& misses, const Plan& plan, const BuildPlan& graph, Session& session);

// The misses with what differs from the nearest build there, of edges of one op that nobody has built. Asks
// the session's shared cache.
RemoteMisses with_nearest(RemoteMisses misses, const std::string& op, const Plan& plan, Session& session);

}  // namespace dsbuild
