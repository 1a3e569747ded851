// A sketch lists the keys of an op's edges, part by part, as text in the shared cache. With it, `explain`
// names what differs from the most similar build if nobody has built the same. Keys alone cannot show that,
// because they are digests. A sketch is a hint, named by the pack and the op; the shared cache has the newest
// ones.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "driver/plan.h"
#include "driver/session.h"

namespace dsbuild {

struct KeySketch {
  std::map<std::string, Key> edges;          // by output; commands contain the words of their step files
  std::map<std::string, std::string> lists;  // texts of the lists that "tools" parts name, by name
  bool operator==(const KeySketch&) const = default;
};
std::string render_sketch(const KeySketch& sketch);
// nullopt: damaged, or of a different version.
std::optional<KeySketch> parse_sketch(std::string_view text);

// Call it after a build. Uploads the sketches of the ops in which `misses` has an edge that nobody had built
// before. Does nothing if this machine only reads the shared cache.
void share_sketches(const RemoteMisses& misses, const Plan& plan, const BuildPlan& graph, Session& session);

// For edges of `op` that nobody has built, adds the difference from the most similar build in the session's
// shared cache.
RemoteMisses with_nearest(RemoteMisses misses, const std::string& op, const Plan& plan, Session& session);

}  // namespace dsbuild
