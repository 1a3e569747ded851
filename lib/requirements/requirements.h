// Whether this machine has what the ops need: every op, every probe, in one pass, never an abort.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "sys/fact_store.h"
#include "sys/host.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

// What a met requirement gives to its op's edges.
struct Contribution {
  std::vector<std::string> include_dirs;  // absolute
  std::vector<std::string> cxx_flags;     // CFLAGS the probe used
  std::vector<std::string> link_flags;    // LDFLAGS the probe used, -L, -l
  bool operator==(const Contribution&) const = default;
};

struct Finding {
  RequirementKind kind = RequirementKind::cuda;
  std::string subject;  // Requirement::text()
  bool ok = false;
  std::string why;      // "libaio.so: io_submit links", "not found: no header aio.h"; first line only
  std::string fix;      // "apt-get install libaio-dev"; "" when ok
  std::string detail;   // the compiler's whole text, for -v
  std::string version;  // what was found, of cuda, tvm_ffi and torch: "0.1.15"
  Contribution gives;
  bool operator==(const Finding&) const = default;
};

struct RequirementReport {
  std::map<std::string, std::vector<Finding>> by_op;  // one entry per op of the registry
  Version torch;  // for `when: {torch: …}`; looked for only where an op asks, empty if not found
  bool met(const std::string& op) const;
  std::vector<std::string> reasons(const std::string& op) const;  // the `why` of what failed
  std::vector<std::string> fixes(const std::string& op) const;    // what mends it, where that is known
  bool operator==(const RequirementReport&) const = default;
};

// The distribution's package tool picks which hint is shown ("apt", "dnf", "pacman", "zypper", "apk").
// A failed probe is never remembered; one that succeeded is, as long as the compiler and its flags
// are the same. A probe that fails to run means not ok, with the reason.
// `toolkit` may be null (no CUDA): cuda requirements fail with the reason; `cxx` may be null.
// `requested` (resolved, empty without a toolkit): what any_arch and every_arch are asked about, after
// each op's own filter.
RequirementReport check_requirements(const Settings& settings, const Registry& registry,
                                     const Toolkit* toolkit, const ArchSet& requested,
                                     const HostCompiler* cxx, const Host& host, System& system,
                                     FactStore& facts);

}  // namespace dsbuild
