// The ops that a program loaded, by pack, and for which archs: what `dsbuild record` writes and `--ops @FILE`
// builds. YAML:
//   packs:
//     native:
//       cpu_adam: []
//       fused_adam: ["9.0+PTX"]
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "settings/settings.h"

namespace dsbuild {

struct Workload {
  // By pack (a name, or the absolute path of its folder), then by op.
  std::map<std::string, std::map<std::string, WorkloadOp>> packs;

  void add(const std::string& pack, const std::string& op, const ArchSet& archs);
  void add(const Workload& other);
  size_t ops() const;
  bool operator==(const Workload&) const = default;
};

// Sorted; of a line `comment` and the map. Reading it gives the same workload.
std::string render_workload(const Workload& workload, const std::string& comment);

// `file` is for messages. Errors, exit 2, where file:line:column: `bad_yaml`, `bad_workload`, those of
// parse_arch_list.
Result<Workload> read_workload(std::string_view text, const std::string& file);

// Of `settings.selection.workload_file`, and of the one pack that is built: that of --pack, or the only one.
// Its archs become those of the request where none are asked for. Errors, exit 2: `no_workload`,
// `bad_workload`, those of read_workload.
Result<void> take_workload(const FileReader& files, Settings& settings);

}  // namespace dsbuild
